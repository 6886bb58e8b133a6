package custom

import (
	"encoding/json"
	"fmt"
	"strconv"
	"sync/atomic"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kind is the kind of a CustomResourceDefinition.
type Kind struct {
	// Definition has everything except the schemas. It must not be modified.
	Definition *apiextensionsv1.CustomResourceDefinition

	text     *atomic.Pointer[[]byte] // of the last state that is served identically
	key      string
	since    int64
	at       *atomic.Int64 // of that state
	tag      string
	forms    string
	convert  Converter
	schemas  *schemas
	versions map[string]*version
}

// Options are a Kind's dependencies.
type Options struct {
	// Key is the storage key of the definition, Revision the revision at which it was read.
	Key      string
	Revision int64
	// Webhook returns the converter of a definition with a webhook. If it is nil, each conversion fails.
	Webhook func(definition *apiextensionsv1.CustomResourceDefinition) Converter
}

// New decodes a definition's stored JSON, which is retained and must not be modified.
func New(text []byte, o Options) (*Kind, error) {
	d, err := readHead(text)
	if err != nil {
		return nil, err
	}
	k := &Kind{text: new(atomic.Pointer[[]byte]), key: o.Key, since: o.Revision, at: new(atomic.Int64), convert: o.converter(d), forms: newForms()}
	k.Renew(o.Revision, text)
	return k.setDefinition(d), nil
}

// formsMade counts the names that newForms has returned.
var formsMade atomic.Uint64

// newForms returns a name that no other kind of this process has.
func newForms() string { return strconv.FormatUint(formsMade.Add(1), 10) }

// converter returns the converter of a definition.
func (o Options) converter(d *apiextensionsv1.CustomResourceDefinition) Converter {
	c := d.Spec.Conversion
	switch {
	case c == nil || c.Strategy != apiextensionsv1.WebhookConverter:
		return rename{}
	case o.Webhook == nil:
		return unreachable{}
	}
	return o.Webhook(d)
}

// For returns the kind for another server, whose dependencies are o. The two share the definition, the compiled schemas and the
// tables.
func (k *Kind) For(o Options) *Kind {
	other := &Kind{
		Definition: k.Definition, text: new(atomic.Pointer[[]byte]), key: o.Key, since: k.since, at: new(atomic.Int64), tag: k.tag,
		forms: k.forms, convert: o.converter(k.Definition), schemas: k.schemas, versions: map[string]*version{},
	}
	if other.convert != Converter(rename{}) { // the webhook of another server is another one
		other.forms = newForms()
	}
	other.Renew(o.Revision, *k.text.Load())
	for name, v := range k.versions {
		other.versions[name] = &version{CustomResourceDefinitionVersion: v.CustomResourceDefinitionVersion, kind: other, rules: v.rules, table: v.table}
	}
	return other
}

// setDefinition sets the fields that depend on the state of the definition.
func (k *Kind) setDefinition(d *apiextensionsv1.CustomResourceDefinition) *Kind {
	k.Definition, k.versions = d, map[string]*version{}
	k.tag = string(d.UID) + "/" + strconv.FormatInt(d.Generation, 10)
	k.schemas = newSchemas(k)
	for i := range d.Spec.Versions {
		v := newVersion(k, &d.Spec.Versions[i])
		k.versions[v.Name] = v
	}
	return k
}

// Name is the definition's name.
func (k *Kind) Name() string { return k.Definition.Name }

// GroupResource returns the defined resource.
func (k *Kind) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: k.Definition.Spec.Group, Resource: k.Definition.Spec.Names.Plural}
}

// Same reports whether another state of the definition is served identically.
func (k *Kind) Same(other *Kind) bool {
	a, b := k.Definition, other.Definition
	return a.UID == b.UID && a.Generation == b.Generation && closed(a) == closed(b) && namesAccepted(a) == namesAccepted(b) && sameNames(a, b)
}

func sameNames(a, b *apiextensionsv1.CustomResourceDefinition) bool {
	x, _ := json.Marshal(a.Status.AcceptedNames)
	y, _ := json.Marshal(b.Status.AcceptedNames)
	return string(x) == string(y)
}

// definitionHead is a definition without its schemas, which are nearly all of its text.
type definitionHead struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Group                 string                                        `json:"group"`
		Names                 apiextensionsv1.CustomResourceDefinitionNames `json:"names"`
		Scope                 apiextensionsv1.ResourceScope                 `json:"scope"`
		Versions              []headVersion                                 `json:"versions"`
		Conversion            *apiextensionsv1.CustomResourceConversion     `json:"conversion"`
		PreserveUnknownFields bool                                          `json:"preserveUnknownFields"`
	} `json:"spec"`
	Status apiextensionsv1.CustomResourceDefinitionStatus `json:"status"`
}

type headVersion struct {
	Name                     string                                           `json:"name"`
	Served                   bool                                             `json:"served"`
	Storage                  bool                                             `json:"storage"`
	Deprecated               bool                                             `json:"deprecated"`
	DeprecationWarning       *string                                          `json:"deprecationWarning"`
	Subresources             *apiextensionsv1.CustomResourceSubresources      `json:"subresources"`
	AdditionalPrinterColumns []apiextensionsv1.CustomResourceColumnDefinition `json:"additionalPrinterColumns"`
	SelectableFields         []apiextensionsv1.SelectableField                `json:"selectableFields"`
}

func readHead(text []byte) (*apiextensionsv1.CustomResourceDefinition, error) {
	var h definitionHead
	if err := json.Unmarshal(text, &h); err != nil {
		return nil, fmt.Errorf("custom resource definition cannot be read: %w", err)
	}
	d := &apiextensionsv1.CustomResourceDefinition{TypeMeta: h.TypeMeta, ObjectMeta: h.ObjectMeta, Status: h.Status}
	d.Spec = apiextensionsv1.CustomResourceDefinitionSpec{
		Group: h.Spec.Group, Names: h.Spec.Names, Scope: h.Spec.Scope,
		Conversion: h.Spec.Conversion, PreserveUnknownFields: h.Spec.PreserveUnknownFields,
	}
	d.ManagedFields = nil
	for _, v := range h.Spec.Versions {
		d.Spec.Versions = append(d.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{
			Name: v.Name, Served: v.Served, Storage: v.Storage, Deprecated: v.Deprecated, DeprecationWarning: v.DeprecationWarning,
			Subresources: v.Subresources, AdditionalPrinterColumns: v.AdditionalPrinterColumns, SelectableFields: v.SelectableFields,
		})
	}
	return d, nil
}

// WithStatus returns the kind of the same definition with another status.
func (k *Kind) WithStatus(status apiextensionsv1.CustomResourceDefinitionStatus) *Kind {
	d := k.Definition.DeepCopy()
	d.Status = status
	return (&Kind{text: k.text, key: k.key, since: k.since, at: k.at, convert: k.convert, forms: k.forms}).setDefinition(d)
}

// Renew records the latest state of the definition that is served identically. Its stored JSON replaces the
// previous one, which no one else may retain.
func (k *Kind) Renew(at int64, text []byte) {
	k.text.Store(&text)
	k.at.Store(at)
}
