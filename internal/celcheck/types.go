package celcheck

import (
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/traits"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
)

// Base is the environment of every Kubernetes expression, built on first use.
var Base = sync.OnceValue(func() *environment.EnvSet {
	return environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
})

// member is a field of a declared type. Optional fields of the request are not required.
type member struct {
	name     string
	of       *apiservercel.DeclType
	optional bool
}

func object(name string, members ...member) *apiservercel.DeclType {
	fields := make(map[string]*apiservercel.DeclField, len(members))
	for _, m := range members {
		fields[m.name] = apiservercel.NewDeclField(m.name, m.of, !m.optional, nil, nil)
	}
	return apiservercel.NewObjectType(name, fields)
}

var (
	text    = apiservercel.StringType
	texts   = apiservercel.NewListType(text, -1)
	textMap = apiservercel.NewMapType(text, text, -1)
)

// RequestType is the type of an AdmissionRequest without uid and objects, which are variables of their own.
func RequestType() *apiservercel.DeclType {
	kind := object("kubernetes.GroupVersionKind", member{name: "group", of: text}, member{name: "version", of: text}, member{name: "kind", of: text})
	res := object("kubernetes.GroupVersionResource", member{name: "group", of: text}, member{name: "version", of: text}, member{name: "resource", of: text})
	user := object("kubernetes.UserInfo",
		member{"username", text, true}, member{"uid", text, true}, member{"groups", texts, true},
		member{"extra", apiservercel.NewMapType(text, texts, -1), true})
	return object("kubernetes.AdmissionRequest",
		member{name: "kind", of: kind}, member{name: "resource", of: res}, member{"subResource", text, true},
		member{name: "requestKind", of: kind}, member{name: "requestResource", of: res}, member{"requestSubResource", text, true},
		member{name: "name", of: text}, member{"namespace", text, true}, member{name: "operation", of: text},
		member{name: "userInfo", of: user}, member{"dryRun", apiservercel.BoolType, true}, member{"options", apiservercel.DynType, true})
}

// NamespaceType is the type of a Namespace without owner references and managed fields.
func NamespaceType() *apiservercel.DeclType {
	moment, number := apiservercel.TimestampType, apiservercel.IntType
	condition := object("kubernetes.NamespaceCondition",
		member{name: "status", of: text}, member{name: "type", of: text}, member{name: "lastTransitionTime", of: moment},
		member{name: "message", of: text}, member{name: "reason", of: text})
	return object("kubernetes.Namespace",
		member{name: "metadata", of: object("kubernetes.NamespaceMetadata",
			member{name: "name", of: text}, member{name: "generateName", of: text}, member{name: "namespace", of: text},
			member{name: "labels", of: textMap}, member{name: "annotations", of: textMap}, member{name: "UID", of: text},
			member{name: "creationTimestamp", of: moment}, member{name: "deletionGracePeriodSeconds", of: number},
			member{name: "deletionTimestamp", of: moment}, member{name: "generation", of: number},
			member{name: "resourceVersion", of: text}, member{name: "finalizers", of: texts})},
		member{name: "spec", of: object("kubernetes.NamespaceSpec", member{name: "finalizers", of: texts})},
		member{name: "status", of: object("kubernetes.NamespaceStatus",
			member{name: "conditions", of: apiservercel.NewListType(condition, -1)}, member{name: "phase", of: text})})
}

var scalars = map[*cel.Type]*apiservercel.DeclType{
	cel.AnyType: apiservercel.AnyType, cel.BoolType: apiservercel.BoolType, cel.BytesType: apiservercel.BytesType,
	cel.DoubleType: apiservercel.DoubleType, cel.DurationType: apiservercel.DurationType, cel.IntType: apiservercel.IntType,
	cel.NullType: apiservercel.NullType, cel.StringType: apiservercel.StringType, cel.TimestampType: apiservercel.TimestampType,
	cel.UintType: apiservercel.UintType,
}

// DeclType returns the type of a variable for the checker of later expressions.
func DeclType(t *cel.Type) *apiservercel.DeclType {
	if t == nil {
		return apiservercel.DynType
	}
	if d := scalars[t]; d != nil {
		return d
	}
	if t.HasTrait(traits.ContainerType) && t.HasTrait(traits.IndexerType) {
		switch p := t.Parameters(); len(p) {
		case 1:
			return apiservercel.NewListType(DeclType(p[0]), -1)
		case 2:
			return apiservercel.NewMapType(DeclType(p[0]), DeclType(p[1]), -1)
		}
	}
	return apiservercel.DynType
}
