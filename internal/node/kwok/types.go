package kwok

import (
	"errors"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/node/expr"
)

// APIVersion is that of all kinds here.
const APIVersion = "kwok.x-k8s.io/v1alpha1"

// Selector selects the pods of a Cluster form; nil and empty lists select all.
type Selector struct {
	MatchNamespaces []string `json:"matchNamespaces,omitempty"`
	MatchNames      []string `json:"matchNames,omitempty"`
}

// head is the common part of all definitions.
type head struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// For restricts an entry to containers; an empty list is all.
type For struct {
	Containers []string `json:"containers,omitempty"`
}

// Log is the log of a container.
type Log struct {
	For
	// LogsFile is a file with its lines, plain or in the CRI's format; Follow reads on
	// as it grows. PreviousLogsFile is the file of the previous instance.
	LogsFile         string `json:"logsFile,omitempty"`
	PreviousLogsFile string `json:"previousLogsFile,omitempty"`
	Follow           bool   `json:"follow,omitempty"`
	// Content is the lines themselves. Fairlead's own.
	Content string `json:"content,omitempty"`
}

// Attach is the output of attaching to a container.
type Attach struct {
	For
	LogsFile string `json:"logsFile,omitempty"`
	Content  string `json:"content,omitempty"` // Fairlead's own
}

// Exec is the result of commands.
type Exec struct {
	For
	// Command restricts the entry to commands with this beginning. Stdout, Stderr and ExitCode
	// are their result. Fairlead's own.
	Command  []string `json:"command,omitempty"`
	Stdout   string   `json:"stdout,omitempty"`
	Stderr   string   `json:"stderr,omitempty"`
	ExitCode int      `json:"exitCode,omitempty"`
	// Local runs the command on the machine that simulates the node.
	Local *Local `json:"local,omitempty"`
}

// Local runs a command on the machine itself.
type Local struct {
	WorkDir string `json:"workDir,omitempty"`
	Envs    []struct {
		Name  string `json:"name"`
		Value string `json:"value,omitempty"`
	} `json:"envs,omitempty"`
}

// Forward is the target of ports of a pod.
type Forward struct {
	Ports   []int32  `json:"ports,omitempty"` // empty is all
	Target  *Target  `json:"target,omitempty"`
	Command []string `json:"command,omitempty"` // its stdin and stdout are the connection
	// Response is written to each client, and the connection is closed. Fairlead's own.
	Response string `json:"response,omitempty"`
}

// Target is an address that the machine of the node can reach.
type Target struct {
	Port    int32  `json:"port"`
	Address string `json:"address"`
}

// Usage is the usage of resources by a container.
type Usage struct {
	For
	Usage map[string]Value `json:"usage"`
}

// Value of a usage: a quantity, or an expression of the pod and the container.
type Value struct {
	Value      *resource.Quantity
	Expression *Program
}

func (v *Value) UnmarshalJSON(text []byte) error {
	var raw struct {
		Value      *resource.Quantity `json:"value"`
		Expression *Program           `json:"expression"`
	}
	if err := strict(text, &raw); err != nil {
		return err
	}
	*v = Value{raw.Value, raw.Expression}
	switch {
	case v.Value != nil && v.Expression == nil:
		return nil
	case v.Value != nil || v.Expression == nil:
		return errors.New("either a value or an expression is wanted")
	}
	return v.Expression.compile([]string{expr.Pod, expr.Container})
}
