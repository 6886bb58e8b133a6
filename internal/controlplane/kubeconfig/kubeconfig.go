// Package kubeconfig writes the file with a control plane's address and its clients'
// credentials.
package kubeconfig

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/clientcmd/api"
)

// Context is the name of the context, cluster and user that Write and Merge make.
const Context = "fairlead"

// Entry is one cluster and one user of it.
type Entry struct {
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
	return replace(path, b)
}

// Encode returns the content of a file that holds only e.
func (e Entry) Encode() ([]byte, error) {
	config := api.NewConfig()
	e.into(config)
	return clientcmd.Write(*config)
}

// Merge adds e to the file at path, or makes it, and makes it the current
// context. All else in the file is kept. It takes the lock that kubectl takes to
// change the file, and fails if that is held for seconds.
func Merge(path string, e Entry) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
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
	e.into(config)
	b, err := clientcmd.Write(*config)
	if err != nil {
		return err
	}
	return replace(path, b)
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

func (e Entry) into(config *api.Config) {
	config.Clusters[Context] = &api.Cluster{Server: e.Server, CertificateAuthorityData: e.CA}
	config.AuthInfos[Context] = &api.AuthInfo{ClientCertificateData: e.Cert, ClientKeyData: e.Key}
	config.Contexts[Context] = &api.Context{Cluster: Context, AuthInfo: Context}
	config.CurrentContext = Context
}

func replace(path string, b []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+"-*") // 0600 from the start
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if _, err := f.Write(b); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
