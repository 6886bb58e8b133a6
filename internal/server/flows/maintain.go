package flows

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	flowcontrolv1 "k8s.io/api/flowcontrol/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"fairlead.dev/internal/resource"
	"fairlead.dev/internal/server/auth"
	"fairlead.dev/internal/server/auth/bootstrap"
	"fairlead.dev/internal/server/write"
	"fairlead.dev/server"
)

// state is what is stored, by name.
type state struct {
	schemas map[string]*flowcontrolv1.FlowSchema
	levels  map[string]*flowcontrolv1.PriorityLevelConfiguration
	// valid are the levels that can be in effect; nil if the server does not tell requests apart.
	valid map[string]bool
}

// Sync puts the stored objects into effect.
func (f *Flows) Sync(ctx context.Context) error {
	_, err := f.sync(ctx)
	return err
}

func (f *Flows) sync(ctx context.Context) (now state, err error) {
	now.schemas, now.levels = map[string]*flowcontrolv1.FlowSchema{}, map[string]*flowcontrolv1.PriorityLevelConfiguration{}
	objects, err := f.o.Server.Lookup().List(ctx, schemas, "")
	if err != nil {
		return now, err
	}
	var all []*flowcontrolv1.FlowSchema
	for _, obj := range objects {
		s := obj.(*flowcontrolv1.FlowSchema)
		now.schemas[s.Name] = s
		all = append(all, s)
	}
	if objects, err = f.o.Server.Lookup().List(ctx, levels, ""); err != nil {
		return now, err
	}
	var limits []*flowcontrolv1.PriorityLevelConfiguration
	for _, obj := range objects {
		l := obj.(*flowcontrolv1.PriorityLevelConfiguration)
		now.levels[l.Name] = l
		limits = append(limits, l)
	}
	now.valid = f.o.Server.Prioritize(all, limits)
	return now, nil
}

// maintain restores, deletes and classifies objects.
func (f *Flows) maintain(ctx context.Context, now state) error {
	wrote := false
	defer func() {
		if wrote {
			f.writes = append(f.writes, time.Now())
		}
	}()
	if wanted := now.wanted(); len(wanted) > 0 {
		wrote = true
		if err := f.o.Server.Bootstrap(ctx, wanted, bootstrap.Reconcile); err != nil {
			return err
		}
	}
	for _, s := range now.schemas {
		if bootstrap.Obsolete(s) {
			wrote = true
			err := f.o.Server.Remove(ctx, schemas, s.Name, s.UID)
			if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
				return err
			}
		} else if c := bootstrap.Dangling(s, now.valid[s.Spec.PriorityLevelConfiguration.Name]); now.valid != nil && !hasCondition(s, c) {
			wrote = true
			if err := f.classify(ctx, s.Name, c); err != nil {
				return err
			}
		}
	}
	for _, l := range now.levels {
		if bootstrap.Obsolete(l) {
			wrote = true
			err := f.o.Server.Remove(ctx, levels, l.Name, l.UID)
			if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
				return err
			}
		}
	}
	return nil
}

// wanted returns the objects that are missing or to be restored.
func (now state) wanted() (list []runtime.Object) {
	for _, want := range bootstrap.Flows(now.valid != nil) {
		var have runtime.Object
		name := want.(resource.Object).GetName()
		if _, ok := want.(*flowcontrolv1.FlowSchema); !ok {
			if l := now.levels[name]; l != nil {
				have = l
			}
		} else if s := now.schemas[name]; s != nil {
			have = s
		}
		if have == nil || bootstrap.Reconcile(have, want) != nil {
			list = append(list, want)
		}
	}
	return list
}

func hasCondition(s *flowcontrolv1.FlowSchema, want flowcontrolv1.FlowSchemaCondition) bool {
	for _, c := range s.Status.Conditions {
		if c.Type == want.Type {
			return c.Status == want.Status && c.Reason == want.Reason && c.Message == want.Message
		}
	}
	return false
}

// self is the user of the server's own requests.
var self = &auth.User{Name: "system:apiserver", Groups: []string{auth.MastersGroup}}

// classify applies a condition to a FlowSchema, unless that is deleted.
func (f *Flows) classify(ctx context.Context, name string, c flowcontrolv1.FlowSchemaCondition) error {
	c.LastTransitionTime = metav1.Now()
	body, err := json.Marshal(map[string]any{
		"apiVersion": flowcontrolv1.SchemeGroupVersion.String(), "kind": "FlowSchema", "metadata": map[string]any{"name": name},
		"status": map[string]any{"conditions": []any{c}},
	})
	if err != nil {
		return err
	}
	url := "http://memory/apis/" + flowcontrolv1.SchemeGroupVersion.String() + "/flowschemas/" + name + "/status?force=true&fieldManager=" + write.FlowClassifier
	req, err := http.NewRequestWithContext(ctx, http.MethodPatch, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/apply-patch+yaml")
	resp, err := server.Transport(f.o.Server, self).RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode == http.StatusOK || resp.StatusCode == http.StatusNotFound {
		return nil
	}
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	return fmt.Errorf("the status of FlowSchema %s: %s", name, text)
}
