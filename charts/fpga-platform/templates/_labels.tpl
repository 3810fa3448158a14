{{/* Labels. Callers pass (dict "root" $ "component" "plugin"). */}}

{{- define "fpga-platform.selector" -}}
app.kubernetes.io/name: fpga-platform
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "fpga-platform.labels" -}}
{{ include "fpga-platform.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/part-of: fpga-platform
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}
