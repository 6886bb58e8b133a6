package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
)

// jobEnv carries a job to a child.
const jobEnv = "FAIRLEAD_LIBRARIES_JOB"

// job is one measurement of one library, done by a child.
type job struct {
	Row      string `json:"row"`
	Library  string `json:"library"`
	Proto    bool   `json:"proto"`
	Pods     int    `json:"pods"`
	Handlers int    `json:"handlers"`
	Workers  int    `json:"workers"`
	N        int    `json:"n"` // operations
	URL      string `json:"url"`
	Config   string `json:"config"`   // a kubeconfig, in place of URL
	Profiles string `json:"profiles"` // a folder for profiles, or ""
}

// figures are a child's measurements, by name.
type figures map[string]float64

// child runs a job in a process of its own.
func (j job) child(ctx context.Context, program string) (figures, error) {
	cmd := exec.CommandContext(ctx, program)
	cmd.Env = append(os.Environ(), jobEnv+"="+string(must(json.Marshal(j))))
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s, %s: %w", j.Row, j.Library, err)
	}
	var f figures
	return f, json.Unmarshal(out, &f)
}

// beChild does the job of the environment and prints its figures.
func beChild(text string) {
	var j job
	err := json.Unmarshal([]byte(text), &j)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(j.measure())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// measure does the job in this process. A failure ends the process without a figure.
func (j job) measure() figures {
	lib := libraries[j.Library]
	j.startProfiles()
	defer j.endProfiles()
	switch j.Row {
	case "sync":
		return measureSync(j, lib)
	case "events":
		return measureEvents(j, lib)
	case "pipeline":
		return measurePipeline(j, lib)
	case "lookups":
		return measureLookups(j, lib)
	case "queue":
		return measureQueue(j, lib)
	case "delayed":
		return measureWaiting(j, lib, func(q queue, k key) { q.AddAfter(k) })
	case "limited":
		return measureWaiting(j, lib, func(q queue, k key) { q.Retry(k) })
	}
	panic("no row " + j.Row)
}
