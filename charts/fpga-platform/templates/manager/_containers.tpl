{{/* The manager's processes: one image, one configuration, a container each. */}}

{{/* (dict "root" $ "name" "worker") */}}
{{- define "fpga-platform.manager.process" -}}
name: {{ .name }}
image: {{ include "fpga-platform.image" (dict "root" .root "image" .root.Values.manager.image) }}
imagePullPolicy: {{ .root.Values.global.imagePullPolicy }}
args: [--config, /etc/fpga-platform/manager.yaml, {{ .name }}]
securityContext:
  {{- include "fpga-platform.containerSecurity" .root | nindent 2 }}
terminationMessagePolicy: FallbackToLogsOnError
volumeMounts:
  - name: config
    mountPath: /etc/fpga-platform/manager.yaml
    subPath: manager.yaml
    readOnly: true
  - name: secrets
    mountPath: /etc/fpga-platform/secrets
    readOnly: true
  - name: redis
    mountPath: /etc/fpga-platform/redis
    readOnly: true
  - name: data
    mountPath: /var/lib/fpga-platform
  - name: temporary
    mountPath: /tmp
{{- end -}}

{{/* A process without an API of its own is well when its metrics page answers. */}}
{{- define "fpga-platform.manager.metricsProbes" -}}
startupProbe:
  httpGet: {path: /metrics, port: {{ .port }}}
  periodSeconds: 1
  timeoutSeconds: 2
  failureThreshold: 120
livenessProbe:
  httpGet: {path: /metrics, port: {{ .port }}}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
{{- end -}}

{{/* The three share the pod's address, so each has a metrics port of its own. (dict "port" 9101) */}}
{{- define "fpga-platform.manager.metrics" -}}
env:
  - name: FPGA_MANAGER_METRICS__BIND
    value: "0.0.0.0:{{ .port }}"
{{- end -}}

{{- define "fpga-platform.manager.api" -}}
{{ include "fpga-platform.manager.process" (dict "root" . "name" "api") }}
{{ include "fpga-platform.manager.metrics" (dict "port" 9100) }}
ports:
  - name: https
    containerPort: 8443
  - name: metrics
    containerPort: 9100
startupProbe:
  httpGet: {path: /healthz, port: https, scheme: HTTPS}
  periodSeconds: 1
  timeoutSeconds: 2
  failureThreshold: 120
readinessProbe:
  httpGet: {path: /readyz, port: https, scheme: HTTPS}
  periodSeconds: 5
  timeoutSeconds: 5
livenessProbe:
  httpGet: {path: /healthz, port: https, scheme: HTTPS}
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
resources:
  {{- toYaml .Values.manager.api.resources | nindent 2 }}
{{- end -}}

{{- define "fpga-platform.manager.worker" -}}
{{ include "fpga-platform.manager.process" (dict "root" . "name" "worker") }}
{{ include "fpga-platform.manager.metrics" (dict "port" 9101) }}
ports:
  - name: metrics-worker
    containerPort: 9101
{{ include "fpga-platform.manager.metricsProbes" (dict "port" "metrics-worker") }}
resources:
  {{- toYaml .Values.manager.worker.resources | nindent 2 }}
{{- end -}}

{{- define "fpga-platform.manager.reconciler" -}}
{{ include "fpga-platform.manager.process" (dict "root" . "name" "reconciler") }}
{{ include "fpga-platform.manager.metrics" (dict "port" 9102) }}
ports:
  - name: metrics-recon
    containerPort: 9102
{{ include "fpga-platform.manager.metricsProbes" (dict "port" "metrics-recon") }}
resources:
  {{- toYaml .Values.manager.reconciler.resources | nindent 2 }}
{{- end -}}

{{- define "fpga-platform.manager.migrate" -}}
{{ include "fpga-platform.manager.process" (dict "root" . "name" "migrate") }}
resources:
  {{- toYaml .Values.manager.api.resources | nindent 2 }}
{{- end -}}

{{- define "fpga-platform.manager.volumes" -}}
- name: config
  configMap:
    name: {{ include "fpga-platform.manager.name" . }}
- name: secrets
  secret:
    secretName: {{ include "fpga-platform.secrets.manager" . }}
    defaultMode: 0440
- name: redis
  secret:
    secretName: {{ include "fpga-platform.secrets.redis" . }}
    defaultMode: 0440
    items:
      - key: redis-password
        path: redis-password
- name: data
  {{- if include "fpga-platform.manager.persistent" . }}
  persistentVolumeClaim:
    claimName: {{ include "fpga-platform.manager.claim" . }}
  {{- else }}
  emptyDir: {}
  {{- end }}
- name: temporary
  emptyDir: {}
{{- end -}}
