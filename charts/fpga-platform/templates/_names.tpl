{{/* Every object's name is made here, so that no two templates can disagree about one. */}}

{{- define "fpga-platform.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "fpga-platform.plugin.name" -}}{{ include "fpga-platform.fullname" . }}-plugin{{- end -}}
{{- define "fpga-platform.manager.name" -}}{{ include "fpga-platform.fullname" . }}-manager{{- end -}}
{{- define "fpga-platform.redis.name" -}}{{ include "fpga-platform.fullname" . }}-redis{{- end -}}
{{- define "fpga-platform.web.name" -}}{{ include "fpga-platform.fullname" . }}-web{{- end -}}
{{- define "fpga-platform.bootstrap.name" -}}{{ include "fpga-platform.fullname" . }}-bootstrap{{- end -}}

{{/* Cluster-wide objects carry the namespace: two releases of one name may live in two namespaces. */}}
{{- define "fpga-platform.manager.clusterName" -}}{{ .Release.Namespace }}-{{ include "fpga-platform.manager.name" . }}{{- end -}}

{{- define "fpga-platform.manager.claim" -}}
{{- .Values.manager.persistence.existingClaim | default (include "fpga-platform.manager.name" .) -}}
{{- end -}}

{{/* The bootstrap makes these under the names below unless the values name existing ones. */}}
{{- define "fpga-platform.secrets.ca" -}}{{ include "fpga-platform.fullname" . }}-ca{{- end -}}
{{- define "fpga-platform.secrets.manager" -}}
{{- .Values.secrets.manager | default (include "fpga-platform.manager.name" .) -}}
{{- end -}}
{{- define "fpga-platform.secrets.redis" -}}
{{- .Values.secrets.redis | default (include "fpga-platform.redis.name" .) -}}
{{- end -}}
{{- define "fpga-platform.secrets.web" -}}
{{- .Values.secrets.web | default (include "fpga-platform.web.name" .) -}}
{{- end -}}
{{- define "fpga-platform.authority" -}}
{{- .Values.secrets.authority | default (printf "%s-authority" (include "fpga-platform.fullname" .)) -}}
{{- end -}}

{{/* The names that the API is called by inside the cluster, the first one by the platform itself. */}}
{{- define "fpga-platform.manager.hosts" -}}
{{- $name := include "fpga-platform.manager.name" . -}}
{{- $hosts := list (printf "%s.%s.svc" $name .Release.Namespace) (printf "%s.%s" $name .Release.Namespace) $name -}}
{{- concat $hosts .Values.manager.extraHosts | toJson -}}
{{- end -}}
{{- define "fpga-platform.manager.url" -}}
https://{{ include "fpga-platform.manager.hosts" . | fromJsonArray | first }}:8443
{{- end -}}
{{- define "fpga-platform.redis.url" -}}
{{- if .Values.redis.enabled -}}
redis://{{ include "fpga-platform.redis.name" . }}.{{ .Release.Namespace }}.svc:6379/0
{{- else -}}
{{ .Values.redis.url }}
{{- end -}}
{{- end -}}
