package kwok

import (
	"errors"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"fairlead.dev/internal/node/expr"
)

// APIVersion is that of all kinds here.
const APIVersion = "kwok.x-k8s.io/v1alpha1"

// Selector says for which pods a Cluster form is; nil and empty lists are for all.
type Selector struct {
	MatchNamespaces []string `json:"matchNamespaces,omitempty"`
	MatchNames      []string `json:"matchNames,omitempty"`
}

// head is what all definitions begin with.
type head struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// For restricts an entry to containers; none is all.
type For struct {
	Containers []string `json:"containers,omitempty"`
}

// Log is what a container has written.
type Log struct {
	For
	// LogsFile is a file with its lines, plain or as the CRI writes them; Follow goes on
	// reading what is added to it. PreviousLogsFile is that of the instance before.
	LogsFile         string `json:"logsFile,omitempty"`
	PreviousLogsFile string `json:"previousLogsFile,omitempty"`
	Follow           bool   `json:"follow,omitempty"`
	// Content is the lines themselves. Fairlead's own.
	Content string `json:"content,omitempty"`
}

// Attach is what one who attaches sees.
type Attach struct {
	For
	LogsFile string `json:"logsFile,omitempty"`
	Content  string `json:"content,omitempty"` // Fairlead's own
}

// Exec is what becomes of commands.
type Exec struct {
	For
	// Command restricts the entry to commands that begin so. Stdout, Stderr and ExitCode
	// are how those end. Fairlead's own.
	Command  []string `json:"command,omitempty"`
	Stdout   string   `json:"stdout,omitempty"`
	Stderr   string   `json:"stderr,omitempty"`
	ExitCode int      `json:"exitCode,omitempty"`
	// Local runs the command on the machine that simulates the node.
	Local *Local `json:"local,omitempty"`
}

// Local is how a command runs on the machine itself.
type Local struct {
	WorkDir string `json:"workDir,omitempty"`
	Envs    []struct {
		Name  string `json:"name"`
		Value string `json:"value,omitempty"`
	} `json:"envs,omitempty"`
}

// Forward is what is behind ports of a pod.
type Forward struct {
	Ports   []int32  `json:"ports,omitempty"` // none is all
	Target  *Target  `json:"target,omitempty"`
	Command []string `json:"command,omitempty"` // its stdin and stdout are the connection
	// Response is written to whoever connects, which ends the connection. Fairlead's own.
	Response string `json:"response,omitempty"`
}

// Target is an address that the machine of the node can reach.
type Target struct {
	Port    int32  `json:"port"`
	Address string `json:"address"`
}

// Usage is what a container uses of resources.
type Usage struct {
	For
	Usage map[string]Value `json:"usage"`
}

// Value of a usage, as it stands or as an expression of the pod and the container makes it.
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
