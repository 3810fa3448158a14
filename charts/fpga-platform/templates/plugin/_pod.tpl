{{/* Parts of the plugin's pod. */}}

{{- define "fpga-platform.plugin.probes" -}}
startupProbe:
  httpGet: {path: /healthz, port: metrics}
  periodSeconds: 1
  timeoutSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: {path: /healthz, port: metrics}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
{{- end -}}

{{- define "fpga-platform.plugin.volumes" -}}
- name: config
  configMap:
    name: {{ include "fpga-platform.plugin.name" . }}
- name: authority
  configMap:
    name: {{ include "fpga-platform.authority" . }}
    items:
      - key: ca.crt
        path: ca.crt
- name: token
  projected:
    defaultMode: 0400
    sources:
      - serviceAccountToken:
          audience: fpga-platform
          expirationSeconds: 3600
          path: token
- name: temporary
  emptyDir: {}
- name: state
  hostPath:
    path: {{ .Values.plugin.stateDir }}
    type: DirectoryOrCreate
- name: device-plugins
  hostPath:
    path: {{ .Values.kubelet.devicePluginDir }}
    type: Directory
- name: pod-resources
  hostPath:
    path: {{ .Values.kubelet.podResourcesDir }}
    type: Directory
{{- if .Values.simulation.enabled }}
- name: simulated
  hostPath:
    path: {{ .Values.plugin.stateDir }}/simulated
    type: DirectoryOrCreate
{{- else }}
- name: sys
  hostPath:
    path: /sys
    type: Directory
- name: dev
  hostPath:
    path: /dev
    type: Directory
{{- end }}
{{- range .Values.plugin.hostFolders }}
- name: host-{{ .name }}
  hostPath:
    path: {{ .hostPath }}
    type: Directory
{{- end }}
{{- end -}}

{{/* One term a label: terms are alternatives. */}}
{{- define "fpga-platform.plugin.affinity" -}}
{{- with .Values.plugin.anyNodeLabel }}
nodeAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
    nodeSelectorTerms:
      {{- range . }}
      - matchExpressions:
          - key: {{ . }}
            operator: Exists
      {{- end }}
{{- end }}
{{- end -}}
