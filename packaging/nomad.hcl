# One channel: one allocation and one host volume, never two at once. docs/CHANNELS.md says how to begin.
variable "channel" {
  type    = string
  default = "alice"
}

job "forgetmenot" {
  name = "forgetmenot-${var.channel}"
  type = "service"

  group "bot" {
    count = 1

    # the volume `forgetmenot-alice` of the client that has it; the job runs there
    volume "memory" {
      type            = "host"
      source          = "forgetmenot-${var.channel}"
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
    }

    # the old bot ends before the new one starts
    update {
      max_parallel = 1
      canary       = 0
    }

    task "bot" {
      driver       = "docker"
      kill_timeout = "15s"

      config {
        image        = "forgetmenot"
        network_mode = "host"
      }

      # the key of the AI model: `nomad var put nomad/jobs/forgetmenot-alice GEMINI_API_KEY=…`
      template {
        destination = "secrets/keys.env"
        env         = true
        data        = <<EOT
{{ with nomadVar "nomad/jobs/forgetmenot-${var.channel}" }}GEMINI_API_KEY={{ .GEMINI_API_KEY }}{{ end }}
EOT
      }

      volume_mount {
        volume      = "memory"
        destination = "/data"
      }

      resources {
        cpu    = 100
        memory = 400
      }
    }
  }
}
