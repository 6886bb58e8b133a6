package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func get(ctx context.Context, b *bench) ([]figure, error) {
	cpu, wall, err := b.spent(func() error {
		return each(ctx, b.Gets, writers, func(ctx context.Context, i int) error {
			pod := i * 7919 % b.Pods // all over the place
			return b.conn(i).call(ctx, request{path: podPath(pod), want: http.StatusOK, read: func(r io.Reader) error {
				text, err := io.ReadAll(r)
				if err == nil && !bytes.Contains(text, []byte(`"name":"`+podName(pod)+`"`)) {
					err = errors.New("another pod")
				}
				b.podBytes.Store(int64(len(text)))
				return err
			}})
		})
	})
	if err != nil {
		return nil, err
	}
	return b.withEtcd("get", cpu,
		figure{"get", us(cpu) / float64(b.Gets)},
		figure{"get-rate", float64(b.Gets) / wall.Seconds()},
	), nil
}

// lists reads a list n times, one after the other.
func (b *bench) lists(ctx context.Context, row string, n int, r request) ([]figure, error) {
	cpu, _, err := b.spent(func() error {
		return each(ctx, n, 1, func(ctx context.Context, i int) error { return b.conn(i).call(ctx, r) })
	})
	return []figure{{row, ms(cpu) / float64(n)}}, err
}

func listJSON(ctx context.Context, b *bench) ([]figure, error) {
	return b.lists(ctx, "list", b.Lists, request{path: podsPath, want: http.StatusOK, read: jsonPods(b.Pods)})
}

func listProto(ctx context.Context, b *bench) ([]figure, error) {
	return b.lists(ctx, "list-proto", b.Lists, request{path: podsPath, accept: mediaProto, want: http.StatusOK, read: protoPods(b.Pods)})
}

func listLabel(ctx context.Context, b *bench) ([]figure, error) {
	path := podsPath + "?labelSelector=" + url.QueryEscape("group="+groupName(b.Pods/labelled/2))
	return b.lists(ctx, "list-label", b.Selected, request{path: path, want: http.StatusOK, read: jsonPods(labelled)})
}

// listPage walks through all pods in pages.
func listPage(ctx context.Context, b *bench) ([]figure, error) {
	const limit = 500
	pages := 0
	cpu, _, err := b.spent(func() error {
		return each(ctx, b.Walks, 1, func(ctx context.Context, i int) error {
			token := ""
			for left := b.Pods; left > 0; left -= limit {
				path := fmt.Sprintf("%s?limit=%d&continue=%s", podsPath, limit, url.QueryEscape(token))
				err := b.conn(i).call(ctx, request{path: path, want: http.StatusOK, read: func(r io.Reader) error {
					var list metav1.PartialObjectMetadataList
					if err := json.NewDecoder(r).Decode(&list); err != nil {
						return err
					}
					token = list.Continue
					return counted(len(list.Items), min(left, limit))
				}})
				if err != nil {
					return err
				}
				pages++
			}
			if token != "" {
				return errors.New("there are pages after the last one")
			}
			return nil
		})
	})
	return []figure{{"list-page", ms(cpu) / float64(pages)}}, err
}

// jsonPods checks for a list of n pods. It counts a string that each has once, which costs
// the machine less than decoding them.
func jsonPods(n int) func(io.Reader) error {
	return func(r io.Reader) error {
		text, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(text, []byte(`{"kind":"PodList"`)) || !bytes.HasSuffix(bytes.TrimSpace(text), []byte("]}")) {
			return errors.New("not a list of pods")
		}
		return counted(bytes.Count(text, []byte(`"nodeName":"node-`)), n)
	}
}

// protoPods wants a list of n pods in protobuf.
func protoPods(n int) func(io.Reader) error {
	return func(r io.Reader) error {
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		data, ok := bytes.CutPrefix(data, []byte("k8s\x00"))
		if !ok {
			return errors.New("not protobuf")
		}
		var envelope runtime.Unknown
		if err := envelope.Unmarshal(data); err != nil {
			return err
		}
		var list corev1.PodList
		if err := list.Unmarshal(envelope.Raw); err != nil {
			return err
		}
		return counted(len(list.Items), n)
	}
}

func counted(got, want int) error {
	if got != want {
		return fmt.Errorf("%d pods, want %d", got, want)
	}
	return nil
}
