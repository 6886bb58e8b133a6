//go:build linux

package realnode

import (
	"embed"
	"text/template"
)

//go:embed config
var configs embed.FS

// parse reads a template of the folder config.
func parse(name string) *template.Template {
	return template.Must(template.ParseFS(configs, "config/"+name))
}
