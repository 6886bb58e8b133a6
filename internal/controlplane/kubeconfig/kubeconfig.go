// Package kubeconfig writes the file with a control plane's address and its clients'
// credentials.
package kubeconfig

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Context is the name of the context, cluster and user of an Entry without a name.
const Context = "fairlead"

// Entry is one cluster and one user of it.
type Entry struct {
	// Name is that of the context, the cluster and the user; "" is Context.
	Name string
	// Server is the base URL.
	Server string
	// CA, Cert and Key are PEM, embedded in the file so that it stands alone.
	CA, Cert, Key []byte
}

// Write replaces the file at path, mode 0600, with one that holds only e. The
// file is whole at any time: it is written aside and renamed.
func Write(path string, e Entry) error {
	b, err := e.Encode()
	if err != nil {
		return err
	}
	return ReplaceFile(path, b, 0o600)
}

// Encode returns the content of a file that holds only e.
func (e Entry) Encode() ([]byte, error) {
	config := api.NewConfig()
	e.into(config)
	return clientcmd.Write(*config)
}

// Read returns the current context of the file at path, which Write has written.
func Read(path string) (Entry, error) {
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		return Entry{}, err
	}
	e := Entry{Name: config.CurrentContext}
	cluster, user := config.Clusters[e.Name], config.AuthInfos[e.Name]
	if cluster == nil || user == nil {
		return e, fmt.Errorf("%s has no cluster and user named %q, which a server has written", path, e.Name)
	}
	e.Server, e.CA, e.Cert, e.Key = cluster.Server, cluster.CertificateAuthorityData, user.ClientCertificateData, user.ClientKeyData
	return e, nil
}

// Merge adds e to the file at path, or makes it, and makes it the current
// context. All else in the file is kept. It takes the lock that kubectl takes to
// change the file, and fails if that is held for seconds.
func Merge(path string, e Entry) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return change(path, func(config *api.Config) bool {
		e.into(config)
		return true
	})
}

// Renew replaces the context of e in the file at path, if there is one, with its cluster and user. The current context stays. It
// takes the lock as Merge does.
func Renew(path string, e Entry) error {
	if _, err := os.Stat(path); os.IsNotExist(err) {
		return nil
	}
	return change(path, func(config *api.Config) bool {
		current := config.CurrentContext
		if config.Contexts[e.ContextName()] == nil {
			return false
		}
		e.into(config)
		config.CurrentContext = current
		return true
	})
}

// Remove undoes Merge: it removes the context of e, with its cluster and user, from the file at path, if its
// cluster has the CA of e. A current context that is removed is unset. It takes the lock as Merge does.
func Remove(path string, e Entry) error {
	if _, err := os.Stat(path); os.IsNotExist(err) {
		return nil
	}
	return change(path, func(config *api.Config) bool {
		cluster := config.Clusters[e.ContextName()]
		if cluster == nil || !bytes.Equal(bytes.TrimSpace(cluster.CertificateAuthorityData), bytes.TrimSpace(e.CA)) {
			return false // of another control plane, or gone
		}
		delete(config.Clusters, e.ContextName())
		delete(config.AuthInfos, e.ContextName())
		delete(config.Contexts, e.ContextName())
		if config.CurrentContext == e.ContextName() {
			config.CurrentContext = ""
		}
		return true
	})
}

// change changes the file at path under its lock, unless edit reports that there is no change.
func change(path string, edit func(*api.Config) bool) error {
	unlock, err := lock(path)
	if err != nil {
		return fmt.Errorf("merge: %w", err)
	}
	defer unlock()
	config, err := clientcmd.LoadFromFile(path)
	if os.IsNotExist(err) {
		config, err = api.NewConfig(), nil
	}
	if err != nil {
		return fmt.Errorf("merge into %s: %w", path, err)
	}
	if !edit(config) {
		return nil
	}
	b, err := clientcmd.Write(*config)
	if err != nil {
		return err
	}
	return ReplaceFile(path, b, 0o600)
}

// DefaultPath returns the file that kubectl would write to: the first of $KUBECONFIG,
// else ~/.kube/config. It fails if there is neither $KUBECONFIG nor a home directory.
func DefaultPath() (string, error) {
	path := clientcmd.NewDefaultPathOptions().GetDefaultFilename()
	if !filepath.IsAbs(path) && os.Getenv(clientcmd.RecommendedConfigPathEnvVar) == "" {
		return "", errors.New("no home directory: set HOME or KUBECONFIG")
	}
	return path, nil
}

// ContextName is the name of the context.
func (e Entry) ContextName() string {
	if e.Name == "" {
		return Context
	}
	return e.Name
}

func (e Entry) into(config *api.Config) {
	name := e.ContextName()
	config.Clusters[name] = &api.Cluster{Server: e.Server, CertificateAuthorityData: e.CA}
	config.AuthInfos[name] = &api.AuthInfo{ClientCertificateData: e.Cert, ClientKeyData: e.Key}
	config.Contexts[name] = &api.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
}

// ReplaceFile replaces the file at path as a whole, or makes it, and its folder: it is written aside and renamed.
func ReplaceFile(path string, b []byte, mode os.FileMode) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+"-*") // 0600 from the start
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(b)
	if err := errors.Join(err, f.Chmod(mode), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
