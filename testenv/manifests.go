package testenv

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/util/yaml"
)

// Objects are API objects, those of files and then those of Go.
type Objects struct {
	// Paths are files of YAML or JSON, and directories, of which all files *.yaml, *.yml and *.json are read, but no
	// subdirectories. Objects of other kinds than the option's are skipped; a path without any of the right kind is
	// an error.
	Paths []string
	// Values are objects as typed values, with or without TypeMeta, as maps, unstructured objects, or anything else
	// that encoding/json makes an object of, or YAML as a []byte.
	Values []any
}

// manifest is an object as it was read.
type manifest struct {
	// from describes its origin for error messages.
	from string
	data map[string]any
}

func (m manifest) kind() string { return text(m.data, "kind") }
func (m manifest) name() string { return text(m.data, "metadata", "name") }

// text returns the string at a path in an object, or "".
func text(object map[string]any, path ...string) string {
	for _, key := range path[:len(path)-1] {
		object, _ = object[key].(map[string]any)
	}
	s, _ := object[path[len(path)-1]].(string)
	return s
}

// kinds are the kinds that an option takes, all of one API version, or of any if that is "".
type kinds struct {
	apiVersion string
	names      []string
}

// takes reports whether a manifest is of these kinds. It is an error if only the version differs.
func (k kinds) takes(m manifest) (bool, error) {
	if len(k.names) > 0 && !slices.Contains(k.names, m.kind()) {
		return false, nil
	}
	if v := text(m.data, "apiVersion"); k.apiVersion != "" && v != k.apiVersion {
		return false, fmt.Errorf("%s: %s %q has the apiVersion %q: want %s", m.from, m.kind(), m.name(), v, k.apiVersion)
	}
	return true, nil
}

// load reads the objects of the kinds.
func (o Objects) load(k kinds) (all []manifest, err error) {
	for _, path := range o.Paths {
		files, err := filesOf(path)
		if err != nil {
			return nil, err
		}
		before := len(all)
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			found, err := decode(file, data)
			if err != nil {
				return nil, err
			}
			for _, m := range found {
				ok, err := k.takes(m)
				if err != nil {
					return nil, err
				}
				if ok {
					all = append(all, m)
				}
			}
		}
		if len(all) == before && len(k.names) > 0 {
			return nil, fmt.Errorf("%s has no %s", path, k.names[0])
		}
	}
	for i, v := range o.Values {
		found, err := encode(fmt.Sprintf("value %d, a %T", i, v), v, k)
		if err != nil {
			return nil, err
		}
		for _, m := range found {
			ok, err := k.takes(m)
			if err != nil {
				return nil, err
			}
			if !ok {
				return nil, fmt.Errorf("%s is of the kind %q: want one of %q", m.from, m.kind(), k.names)
			}
		}
		all = append(all, found...)
	}
	return all, nil
}

// filesOf returns a file, or the files of a directory.
func filesOf(path string) (files []string, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); !e.IsDir() && (ext == ".yaml" || ext == ".yml" || ext == ".json") {
			files = append(files, filepath.Join(path, e.Name()))
		}
	}
	return files, err
}

// decode reads the documents of a file. A List stands for its items.
func decode(from string, data []byte) (all []manifest, err error) {
	in := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), 4096)
	for {
		var object map[string]any
		err := in.Decode(&object)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", from, err)
		}
		items, _ := object["items"].([]any)
		switch {
		case object == nil: // an empty document
		case text(object, "kind") == "List":
			for _, item := range items {
				if data, ok := item.(map[string]any); ok {
					all = append(all, manifest{from, data})
				}
			}
		default:
			all = append(all, manifest{from, object})
		}
	}
}

// encode makes manifests of a Go value. One without a kind is of the kind that its Go type is named after.
func encode(from string, value any, k kinds) ([]manifest, error) {
	if data, ok := value.([]byte); ok {
		return decode(from, data)
	}
	data, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", from, err)
	}
	m := manifest{from: from}
	if err := json.Unmarshal(data, &m.data); err != nil || m.data == nil {
		return nil, fmt.Errorf("%s is no API object", from)
	}
	if typ := reflect.Indirect(reflect.ValueOf(value)).Type(); m.kind() == "" && slices.Contains(k.names, typ.Name()) {
		m.data["apiVersion"], m.data["kind"] = k.apiVersion, typ.Name()
	}
	return []manifest{m}, nil
}
