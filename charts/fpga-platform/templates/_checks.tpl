{{/* Values that contradict each other end the render with a sentence that says what to change. */}}
{{- define "fpga-platform.checks" -}}
{{- if gt (int .Values.manager.replicas) 1 -}}
{{- fail (printf "manager.replicas is %d, but the ledger is SQLite on one volume, which only one pod may open: set manager.replicas to 1" (int .Values.manager.replicas)) -}}
{{- end -}}
{{- if and .Values.redis.enabled .Values.redis.url -}}
{{- fail "redis.url is set, but redis.enabled runs a Valkey of the chart's own: set redis.enabled to false to use the one of redis.url, or leave redis.url empty" -}}
{{- end -}}
{{- if and (not .Values.redis.enabled) (not .Values.redis.url) -}}
{{- fail "redis.enabled is false and redis.url is empty: set redis.url to the Redis or Valkey that the platform shall use" -}}
{{- end -}}
{{- if and (not .Values.redis.enabled) .Values.bootstrap.enabled (not .Values.secrets.redis) -}}
{{- fail "redis.enabled is false, but secrets.redis names no Secret: put the password of redis.url under the key redis-password into a Secret and name it" -}}
{{- end -}}
{{- if not .Values.bootstrap.enabled -}}
{{- range $key := list "manager" "redis" "web" "authority" -}}
{{- if and (not (get $.Values.secrets $key)) (or $.Values.web.enabled (ne $key "web")) -}}
{{- fail (printf "bootstrap.enabled is false, but secrets.%s is empty: name the existing object that the bootstrap would have made, or set bootstrap.enabled to true" $key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and .Values.bootstrap.enabled (or .Values.secrets.manager .Values.secrets.authority) (not (and .Values.secrets.manager .Values.secrets.authority)) -}}
{{- fail "secrets.manager and secrets.authority go together: certificates and the authority that signed them come from one source, so name both or neither" -}}
{{- end -}}
{{- if and .Values.web.ingress.enabled (not .Values.web.enabled) -}}
{{- fail "web.ingress.enabled is true, but web.enabled is false: there is no console to publish; set web.enabled to true or web.ingress.enabled to false" -}}
{{- end -}}
{{- if and .Values.web.ingress.enabled (not .Values.web.ingress.host) -}}
{{- fail "web.ingress.enabled is true, but web.ingress.host is empty: set the name that the console answers to" -}}
{{- end -}}
{{- $pools := list -}}
{{- range .Values.pools -}}
{{- if has .name $pools -}}
{{- fail (printf "pools names %s twice: give every pool a name of its own" .name) -}}
{{- end -}}
{{- $pools = append $pools .name -}}
{{- end -}}
{{- if and .Values.manager.persistence.existingClaim (not .Values.manager.persistence.enabled) -}}
{{- fail "manager.persistence.existingClaim is set, but manager.persistence.enabled is false: set it to true, or leave existingClaim empty" -}}
{{- end -}}
{{- end -}}

{{/* "true" when the manager's files lie in a claim: never by itself in a simulation, which needs no storage class. */}}
{{- define "fpga-platform.manager.persistent" -}}
{{- $persistence := .Values.manager.persistence -}}
{{- if and $persistence.enabled (or $persistence.existingClaim (not .Values.simulation.enabled)) -}}true{{- end -}}
{{- end -}}
