{{/* Which Secrets the bootstrap makes, and what each holds: everyone gets only what it needs. */}}
{{- define "fpga-platform.bootstrap.secrets" -}}
{{- $secrets := dict -}}
{{- if not .Values.secrets.manager -}}
{{- $_ := set $secrets (include "fpga-platform.secrets.ca" .) (list "ca.crt" "ca.key") -}}
{{- $_ := set $secrets (include "fpga-platform.secrets.manager" .) (list "ca.crt" "manager-server.crt" "manager-server.key" "manager-client.crt" "manager-client.key" "admin-token") -}}
{{- end -}}
{{- if and .Values.redis.enabled (not .Values.secrets.redis) -}}
{{- $_ := set $secrets (include "fpga-platform.secrets.redis" .) (list "redis-password") -}}
{{- end -}}
{{- if and .Values.web.enabled (not .Values.secrets.web) -}}
{{- $_ := set $secrets (include "fpga-platform.secrets.web" .) (list "web-secret-key") -}}
{{- end -}}
{{- toJson $secrets -}}
{{- end -}}

{{- define "fpga-platform.bootstrap.plan" -}}
{{- $labels := include "fpga-platform.labels" (dict "root" . "component" "bootstrap") | fromYaml -}}
{{- $_ := set $labels "app.kubernetes.io/managed-by" "fpga-platform-bootstrap" -}}
{{- $_ := unset $labels "helm.sh/chart" -}}
{{- $_ := unset $labels "app.kubernetes.io/version" -}}
{{- dict
  "secrets" (include "fpga-platform.bootstrap.secrets" . | fromJson)
  "authority" (ternary "" (include "fpga-platform.authority" .) (not (empty .Values.secrets.authority)))
  "hosts" (include "fpga-platform.manager.hosts" . | fromJsonArray)
  "labels" $labels
  | toPrettyJson -}}
{{- end -}}

{{/* Made before the job and gone with it. (dict "weight" "-10") */}}
{{- define "fpga-platform.bootstrap.hook" -}}
helm.sh/hook: pre-install,pre-upgrade
helm.sh/hook-weight: {{ .weight | quote }}
helm.sh/hook-delete-policy: before-hook-creation,hook-succeeded
{{- end -}}
