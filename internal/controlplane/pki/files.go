package pki

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Names of the files in a directory.
const (
	caCertFile    = "ca.crt"
	caKeyFile     = "ca.key"
	tokenKeyFile  = "sa.key"
	frontCertFile = "front-proxy-ca.crt"
	frontKeyFile  = "front-proxy-ca.key"
)

// Kept reports whether dir holds an authority.
func Kept(dir string) (bool, error) {
	_, err := os.Stat(filepath.Join(dir, caCertFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Load reads the authority in dir, or creates one there. It is an error if the directory
// has only part of one: no file is overwritten.
func Load(dir string) (*Authority, error) {
	kept, err := Kept(dir)
	if err != nil {
		return nil, err
	}
	if !kept {
		a, err := New(time.Now)
		if err != nil {
			return nil, err
		}
		return a, a.Save(dir)
	}
	a, err := read(dir)
	if err != nil {
		return nil, err
	}
	changed, err := a.Complete()
	if changed && err == nil {
		err = a.Save(dir)
	}
	return a, err
}

func read(dir string) (*Authority, error) {
	var b bundle
	for _, f := range []struct {
		name string
		to   *string
	}{{caCertFile, &b.CertificateAuthority}, {caKeyFile, &b.Key}, {tokenKeyFile, &b.TokenKey}, {frontCertFile, &b.FrontProxy}, {frontKeyFile, &b.FrontProxyKey}} {
		text, err := os.ReadFile(filepath.Join(dir, f.name))
		switch {
		case err == nil:
			*f.to = string(text)
		case errors.Is(err, fs.ErrNotExist) && (f.name == frontCertFile || f.name == frontKeyFile && b.FrontProxy == ""):
			// A directory of an earlier release, or one whose completion was cut short.
		default:
			return nil, err
		}
	}
	a, err := b.parse(time.Now)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	return a, nil
}

// Save writes the authority to dir, which may have a former one. A process that ends in between leaves the former CAs and
// token key, or some of the new ones, each of which is usable; in an empty directory Load then makes others.
func (a *Authority) Save(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	all, err := a.writes(dir)
	for _, w := range all {
		if err == nil {
			err = w.do(dir)
		}
	}
	return errors.Join(err, removeParts(dir))
}

// write is the replacement of one file.
type write struct {
	file string
	text []byte
	mode os.FileMode
}

// writes returns the steps of Save. The certificate of the server's CA, which Load looks for, comes last but for its key alone.
func (a *Authority) writes(dir string) (all []write, err error) {
	front, err := a.front.current.Load().writes(dir, frontCertFile, frontKeyFile)
	if err != nil {
		return nil, err
	}
	tokens, err := a.tokens.Load().encode()
	if err != nil {
		return nil, err
	}
	own, err := a.current.Load().writes(dir, caCertFile, caKeyFile)
	return append(append(front, write{tokenKeyFile, tokens, 0o600}), own...), err
}

// writes returns the steps for a CA: the key beside the former one, the certificate, which chooses the key, and the key alone.
func (k *caKeys) writes(dir, certFile, keyFile string) ([]write, error) {
	certs, key, err := k.encode()
	if err != nil {
		return nil, err
	}
	former, err := os.ReadFile(filepath.Join(dir, keyFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	last := write{keyFile, key, 0o600}
	if bytes.Contains(former, key) {
		return []write{{certFile, certs, 0o644}, last}, nil
	}
	return []write{{keyFile, append(former, key...), 0o600}, {certFile, certs, 0o644}, last}, nil
}

// do writes the file aside, syncs it and renames it. A file that has the text already stays as it is.
func (w write) do(dir string) error {
	path := filepath.Join(dir, w.file)
	if text, err := os.ReadFile(path); err == nil && bytes.Equal(text, w.text) {
		return nil
	}
	f, err := os.CreateTemp(dir, partPrefix+w.file+"-*")
	if err != nil {
		return err
	}
	_, err = f.Write(w.text)
	if err = errors.Join(err, f.Chmod(w.mode), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(dir)
}

// partPrefix begins the names of files that are being written.
const partPrefix = ".new-"

// removeParts removes the files of writes that were cut short.
func removeParts(dir string) error {
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), partPrefix) {
			err = errors.Join(err, os.Remove(filepath.Join(dir, e.Name())))
		}
	}
	return err
}

// syncDir makes renames in a directory survive a crash of the machine, where the system can sync directories.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	_ = f.Sync() // Windows cannot
	return nil
}
