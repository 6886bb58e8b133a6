// Command schedulerplugin is a scheduler with a plugin of its own, Maintenance: it keeps pods off nodes that are about to be
// maintained. The same plugin runs in kube-scheduler, by app.NewSchedulerCommand(app.WithPlugin("Maintenance", New)).
package main

import (
	"os"

	"fairlead.dev/schedulerplugins"
)

func main() {
	if err := schedulerplugins.Command(schedulerplugins.WithPlugin("Maintenance", New)).Execute(); err != nil {
		os.Exit(1)
	}
}
