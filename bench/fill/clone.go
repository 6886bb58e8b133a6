package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/google/uuid"
	clientv3 "go.etcd.io/etcd/client/v3"
	corev1 "k8s.io/api/core/v1"
)

// object is one that is copied: the Deployment d1, its ReplicaSet, or one of their pods.
type object struct {
	key, value string
	pod        *corev1.Pod // nil for the others
}

type objects struct {
	objects []object
	pods    int
}

// readObjects reads the Deployment d1 of the namespace default with what it owns.
func readObjects(ctx context.Context, c *clientv3.Client) (all objects, err error) {
	for key, options := range map[string][]clientv3.OpOption{
		"/registry/deployments/default/d1":  nil,
		"/registry/replicasets/default/d1-": {clientv3.WithPrefix()},
		"/registry/pods/default/d1-":        {clientv3.WithPrefix()},
	} {
		res, err := c.Get(ctx, key, options...)
		if err != nil {
			return all, err
		}
		for _, kv := range res.Kvs {
			o := object{key: string(kv.Key), value: string(kv.Value)}
			if strings.Contains(key, "/pods/") {
				o.pod = &corev1.Pod{}
				if err := json.Unmarshal(kv.Value, o.pod); err != nil {
					return all, fmt.Errorf("%s: %w", kv.Key, err)
				}
				if o.pod.Spec.NodeName == "" || o.pod.Status.PodIP == "" {
					return all, fmt.Errorf("%s does not run", kv.Key)
				}
				all.pods++
			}
			all.objects = append(all.objects, o)
		}
	}
	if all.pods == 0 {
		return all, fmt.Errorf("the Deployment d1 in the namespace default has no pod")
	}
	return all, nil
}

// reserved is the number of addresses at the start of a node's range that no pod gets.
const reserved = 2

// clone makes the copies of one Deployment.
type clone struct {
	number int
	uids   map[string]string // by those copied
}

func newClone(number int) *clone { return &clone{number, map[string]string{}} }

// The places of UIDs in an object as it is stored; those of owners stand in its managed fields, too.
var (
	uids   = regexp.MustCompile(`"uid":"([0-9a-f-]{36})"`)
	owners = regexp.MustCompile(`k:\{\\"uid\\":\\"([0-9a-f-]{36})\\"\}`)
)

// object returns the copy of an object. A pod gets the i-th address of a node.
func (c *clone) object(o object, at node, i int) (key, value string) {
	value = uids.ReplaceAllStringFunc(o.value, c.replaceUID)
	value = owners.ReplaceAllStringFunc(value, c.replaceUID)
	name := "d" + strconv.Itoa(c.number)
	value = strings.ReplaceAll(strings.ReplaceAll(value, `"d1-`, `"`+name+`-`), `"d1"`, `"`+name+`"`)
	if p := o.pod; p != nil {
		a := at.pods.Addr().As4()
		a[3] += byte(reserved + i)
		for old, now := range map[string]string{
			p.Status.PodIP: netip.AddrFrom4(a).String(), p.Status.HostIP: at.address, p.Spec.NodeName: at.name,
		} {
			value = strings.ReplaceAll(value, `"`+old+`"`, `"`+now+`"`)
			value = strings.ReplaceAll(value, `\"`+old+`\"`, `\"`+now+`\"`)
		}
	}
	return strings.Replace(o.key, "/default/d1", "/default/"+name, 1), value
}

// uid is the form of one.
var uid = regexp.MustCompile(`[0-9a-f-]{36}`)

// replaceUID replaces the UID in a text; the first Deployment keeps its own.
func (c *clone) replaceUID(text string) string {
	if c.number == 1 {
		return text
	}
	return uid.ReplaceAllStringFunc(text, func(old string) string {
		if c.uids[old] == "" {
			c.uids[old] = uuid.NewString()
		}
		return c.uids[old]
	})
}
