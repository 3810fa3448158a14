{{/* What pods and containers have in common. */}}

{{/* (dict "root" $ "image" .Values.plugin.image) → registry/repository:tag or @digest */}}
{{- define "fpga-platform.image" -}}
{{- $registry := .image.registry | default .root.Values.global.imageRegistry -}}
{{- $name := .image.repository -}}
{{- if $registry }}{{ $name = printf "%s/%s" $registry $name }}{{ end -}}
{{- if .image.digest -}}
{{ $name }}@{{ .image.digest }}
{{- else -}}
{{ $name }}:{{ .image.tag | default .root.Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "fpga-platform.pullSecrets" -}}
{{- with .Values.global.imagePullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* (dict "root" $ "component" "web" "annotations" .Values.web.podAnnotations "config" <file of the config template>) */}}
{{- define "fpga-platform.podMetadata" -}}
labels:
  {{- include "fpga-platform.labels" . | nindent 2 }}
{{- $annotations := .annotations | default dict }}
{{- with .config }}
{{- $annotations = merge (dict "checksum/config" (include (print $.root.Template.BasePath .) $.root | sha256sum)) $annotations }}
{{- end }}
{{- with $annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* Everything but the plugin runs under these two. */}}
{{- define "fpga-platform.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}
{{- define "fpga-platform.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* (dict "nodeSelector" … "tolerations" … "affinity" …) */}}
{{- define "fpga-platform.placement" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
