{{- define "splitplane.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "splitplane.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "splitplane.labels" -}}
{{ include "splitplane.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "splitplane.config" -}}
{{ .Values.config | trimSuffix "\n" }}

[control]
socket = "/run/splitplane/upf.sock"
{{- if .Values.api.enabled }}

[api]
listen = "0.0.0.0:{{ .Values.api.port }}"
token_file = "/etc/splitplane-token/token"
{{- end }}
{{- end }}
