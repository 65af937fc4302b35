{{- define "day1.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "day1.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "day1.secret" -}}
{{ .Values.existingSecret | default (include "day1.name" .) }}
{{- end }}

{{- define "day1.hasServer" -}}
{{- if or .Values.secrets.DATABASE_URL .Values.serverDatabase }}true{{ end }}
{{- end }}

{{- define "day1.check" -}}
{{- $own := not .Values.existingSecret }}
{{- $server := include "day1.hasServer" . }}
{{- if and .Values.serverDatabase $own (not .Values.secrets.DATABASE_URL) }}
{{- fail "serverDatabase: needs existingSecret or secrets.DATABASE_URL." }}
{{- end }}
{{- if and (not $server) (ne (int .Values.web.replicas) 1) }}
{{- fail "web.replicas: SQLite serves one pod; several need secrets.DATABASE_URL." }}
{{- end }}
{{- if and $server $own }}
{{- range list "DAY1_BROKER_URL" "DAY1_CACHE_URL" "DAY1_SECRET_KEY" }}
{{- if not (index $.Values.secrets .) }}{{ fail (printf "secrets.%s: is needed with a server database." .) }}{{ end }}
{{- end }}
{{- end }}
{{- if and .Values.hosts $own (not .Values.secrets.DAY1_SECRET_KEY) }}
{{- fail "secrets.DAY1_SECRET_KEY: is needed with hosts." }}
{{- end }}
{{- if and .Values.ingress.enabled (not .Values.hosts) }}
{{- fail "ingress: needs a name in hosts." }}
{{- end }}
{{- end }}

{{- /* The beginning of a pod: what web, worker and beat share. */ -}}
{{- define "day1.pod" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
automountServiceAccountToken: false
enableServiceLinks: false # nothing reads its DAY1_PORT and the like, which look like settings
terminationGracePeriodSeconds: 30
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "day1.container" -}}
image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- if or .Values.existingSecret (include "day1.hasServer" .) .Values.hosts }}
envFrom:
  - secretRef: {name: {{ include "day1.secret" . }}}
{{- end }}
env:
  - {name: HOME, value: /tmp}
  {{- with .Values.hosts }}
  - {name: DJANGO_SETTINGS_MODULE, value: day1site.settings.production}
  - {name: DAY1_ALLOWED_HOSTS, value: {{ join "," . | quote }}}
  {{- end }}
  {{- range $name, $value := .Values.env }}
  - {name: {{ $name }}, value: {{ $value | quote }}}
  {{- end }}
volumeMounts:
  - {name: data, mountPath: /data}
  - {name: tmp, mountPath: /tmp}
{{- end }}

{{- /* Probes call a pod by its address, which is no name that the settings of production take. */ -}}
{{- define "day1.probe" -}}
httpGet:
  path: /api/v1/health/{{ . }}
  port: http
  httpHeaders: [{name: Host, value: localhost}]
timeoutSeconds: 5
{{- end }}
