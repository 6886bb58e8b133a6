package clusters

import (
	"context"
	"errors"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/rest"

	"fairlead.dev/client"
)

// ErrNotHosting means that the server does not host clusters.
var ErrNotHosting = errors.New("the server does not host clusters: start it with `fairlead up --clusters`")

// Client manages the Clusters of a server. Make it with NewClient. It is safe for concurrent use.
type Client struct {
	clusters client.Resource[*Cluster]
	secrets  client.Resource[*corev1.Secret]
}

// NewClient returns a Client of the server in cfg, or ErrNotHosting.
func NewClient(ctx context.Context, cfg *rest.Config) (*Client, error) {
	c, err := client.New(cfg, client.Options{Scheme: Scheme})
	if err != nil {
		return nil, err
	}
	clusters := client.For[*Cluster](c)
	if _, err := clusters.GVR(ctx); meta.IsNoMatchError(err) {
		return nil, ErrNotHosting
	} else if err != nil {
		return nil, err
	}
	return &Client{clusters, client.For[*corev1.Secret](c).Namespace(Namespace)}, nil
}

// Create starts a control plane and returns when it answers. If it can't be started, its Cluster is deleted.
func (c *Client) Create(ctx context.Context, object *Cluster) (*Cluster, error) {
	created, err := c.clusters.Create(ctx, object)
	if err != nil {
		return nil, err
	}
	ready, err := c.Await(ctx, created)
	if err != nil {
		return nil, errors.Join(err, c.Delete(context.WithoutCancel(ctx), created.Name))
	}
	return ready, nil
}

// Reset brings a control plane back to the state in which it began, and returns when it answers.
func (c *Client) Reset(ctx context.Context, name string) (*Cluster, error) {
	for {
		object, err := c.clusters.Get(ctx, name)
		if err != nil {
			return nil, err
		}
		raised := object.DeepCopy()
		raised.Spec.Resets++
		object, err = c.clusters.Patch(ctx, name, client.MergeFromLocked(object, raised))
		if apierrors.IsConflict(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		return c.Await(ctx, object)
	}
}

// Delete ends a control plane, and returns when its Cluster is gone.
func (c *Client) Delete(ctx context.Context, name string) error {
	object, err := c.clusters.Get(ctx, name)
	if err != nil {
		return err
	}
	if err := c.clusters.Delete(ctx, name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &object.UID}}); err != nil {
		return err
	}
	// The object's own resource version may be too old for a watch.
	left, err := c.clusters.List(ctx, metav1.ListOptions{FieldSelector: onlyNamed(name)})
	if err != nil || len(left.Items) == 0 || left.Items[0].UID != object.UID {
		return err
	}
	object.ResourceVersion = left.ResourceVersion
	_, err = c.follow(ctx, object, func(*Cluster) (bool, error) { return false, nil })
	if errors.Is(err, errDeleted) {
		return nil
	}
	return err
}

// List returns all Clusters.
func (c *Client) List(ctx context.Context) ([]*Cluster, error) {
	list, err := c.clusters.List(ctx)
	return list.Items, err
}

// Kubeconfig returns the kubeconfig of the administrator of a control plane.
func (c *Client) Kubeconfig(ctx context.Context, name string) ([]byte, error) {
	if _, err := c.clusters.Get(ctx, name); err != nil {
		return nil, err
	}
	secret, err := c.secrets.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	return secret.Data[KubeconfigKey], nil
}

// Await returns the object when the server has brought about its spec, or an error that tells why it cannot.
func (c *Client) Await(ctx context.Context, object *Cluster) (*Cluster, error) {
	return c.follow(ctx, object, func(o *Cluster) (bool, error) {
		ready := meta.FindStatusCondition(o.Status.Conditions, Ready)
		if ready == nil || ready.ObservedGeneration < object.Generation {
			return false, nil
		}
		if ready.Status != metav1.ConditionTrue {
			return false, fmt.Errorf("cluster %q: %s", o.Name, ready.Message)
		}
		return true, nil
	})
}

// onlyNamed is the field selector of the object of a name.
func onlyNamed(name string) string {
	return fields.OneTermEqualSelector("metadata.name", name).String()
}

var errDeleted = errors.New("the cluster has been deleted")

// follow returns the object, or its next state, as soon as done reports true, or the error of done, or errDeleted.
func (c *Client) follow(ctx context.Context, object *Cluster, done func(*Cluster) (bool, error)) (*Cluster, error) {
	if ok, err := done(object); ok || err != nil {
		return object, err
	}
	at := object.ResourceVersion
	for {
		w, err := c.clusters.Watch(ctx, metav1.ListOptions{FieldSelector: onlyNamed(object.Name), ResourceVersion: at})
		if err != nil {
			return nil, err
		}
		for {
			e, err := w.Next(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, err
			}
			at = e.Object.ResourceVersion
			if e.Type == watch.Deleted {
				return nil, errDeleted
			}
			if ok, err := done(e.Object); ok || err != nil {
				w.Stop()
				return e.Object, err
			}
		}
	}
}
