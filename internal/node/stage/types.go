package stage

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// document is a Stage as it is written.
type document struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              struct {
		ResourceRef struct {
			APIGroup string `json:"apiGroup,omitempty"`
			Kind     string `json:"kind"`
		} `json:"resourceRef"`
		Selector *struct {
			MatchLabels      map[string]string `json:"matchLabels,omitempty"`
			MatchAnnotations map[string]string `json:"matchAnnotations,omitempty"`
			MatchExpressions []expression      `json:"matchExpressions,omitempty"`
		} `json:"selector,omitempty"`
		Weight     int64 `json:"weight,omitempty"`
		WeightFrom *from `json:"weightFrom,omitempty"`
		Delay      *struct {
			DurationMilliseconds       *int64 `json:"durationMilliseconds,omitempty"`
			DurationFrom               *from  `json:"durationFrom,omitempty"`
			JitterDurationMilliseconds *int64 `json:"jitterDurationMilliseconds,omitempty"`
			JitterDurationFrom         *from  `json:"jitterDurationFrom,omitempty"`
		} `json:"delay,omitempty"`
		Next               *next  `json:"next,omitempty"`
		Steps              []step `json:"steps,omitempty"`
		ImmediateNextStage bool   `json:"immediateNextStage,omitempty"`
	} `json:"spec"`
}

// expression is a requirement; the members stand in jq, or beside it as in older files.
type expression struct {
	requirement `json:",inline"`
	JQ          *requirement `json:"jq,omitempty"`
}

type requirement struct {
	Key      string   `json:"key,omitempty"`
	Operator string   `json:"operator,omitempty"`
	Values   []string `json:"values,omitempty"`
}

// from is a value that is read from the object.
type from struct {
	ExpressionFrom string `json:"expressionFrom,omitempty"`
	JQ             *struct {
		Expression string `json:"expression"`
	} `json:"jq,omitempty"`
}

type next struct {
	Event      *Event      `json:"event,omitempty"`
	Finalizers *finalizers `json:"finalizers,omitempty"`
	Delete     bool        `json:"delete,omitempty"`
	Patches    []patch     `json:"patches,omitempty"`

	StatusTemplate    string         `json:"statusTemplate,omitempty"`
	StatusSubresource *string        `json:"statusSubresource,omitempty"`
	StatusPatchAs     *impersonation `json:"statusPatchAs,omitempty"`
}

// step is one of the steps of newer files.
type step struct {
	Event      *Event      `json:"event,omitempty"`
	Finalizers *finalizers `json:"finalizers,omitempty"`
	Delete     bool        `json:"delete,omitempty"`
	Patch      *patch      `json:"patch,omitempty"`
}

type patch struct {
	Subresource   string         `json:"subresource,omitempty"`
	Root          string         `json:"root,omitempty"`
	Template      string         `json:"template,omitempty"`
	Type          string         `json:"type,omitempty"`
	Impersonation *impersonation `json:"impersonation,omitempty"`
}

type impersonation struct {
	Username string `json:"username"`
}

type finalizers struct {
	Add    []value `json:"add,omitempty"`
	Remove []value `json:"remove,omitempty"`
	Empty  bool    `json:"empty,omitempty"`
}

type value struct {
	Value string `json:"value"`
}

// Event is one to be written about the object.
type Event struct {
	Type    string `json:"type,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
}
