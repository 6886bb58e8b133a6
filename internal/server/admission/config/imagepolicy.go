package config

import (
	"errors"
	"fmt"
	"time"

	"sigs.k8s.io/yaml"
)

// ImagePolicy is the configuration of ImagePolicyWebhook.
type ImagePolicy struct {
	// KubeConfigFile has the server to ask, and the credentials for it.
	KubeConfigFile string
	// AllowTTL and DenyTTL are how long answers are kept; with 0 no answer is kept.
	AllowTTL, DenyTTL time.Duration
	// RetryBackoff is the wait before the first retry.
	RetryBackoff time.Duration
	// DefaultAllow admits pods while the server does not answer.
	DefaultAllow bool
}

// imagePolicyFile is the file: its times are in seconds, but RetryBackoff in milliseconds. 0 stands for the default, -1 for no time at all.
type imagePolicyFile struct {
	ImagePolicy struct {
		KubeConfigFile string `json:"kubeConfigFile"`
		AllowTTL       int64  `json:"allowTTL"`
		DenyTTL        int64  `json:"denyTTL"`
		RetryBackoff   int64  `json:"retryBackoff"`
		DefaultAllow   bool   `json:"defaultAllow"`
	} `json:"imagePolicy"`
}

func (c *Config) readImagePolicy(data []byte) (err error) {
	if data == nil {
		return errors.New("no config specified")
	}
	var f imagePolicyFile
	if err := yaml.Unmarshal(data, &f); err != nil {
		return err
	}
	p := &ImagePolicy{KubeConfigFile: f.ImagePolicy.KubeConfigFile, DefaultAllow: f.ImagePolicy.DefaultAllow}
	const ttlMin, ttlMax = time.Second, 30 * time.Minute
	if p.RetryBackoff, err = between(f.ImagePolicy.RetryBackoff, time.Millisecond, 1, 5*time.Minute, 500*time.Millisecond); err != nil {
		return err
	}
	if p.AllowTTL, err = between(f.ImagePolicy.AllowTTL, time.Second, ttlMin, ttlMax, 5*time.Minute); err != nil {
		return err
	}
	if p.DenyTTL, err = between(f.ImagePolicy.DenyTTL, time.Second, ttlMin, ttlMax, 30*time.Second); err != nil {
		return err
	}
	c.ImagePolicy = p
	return nil
}

// between returns n units, which have to be within the bounds: unset for 0, and 0 for -1.
func between(n int64, unit, least, most, unset time.Duration) (time.Duration, error) {
	switch n {
	case -1:
		return 0, nil
	case 0:
		return unset, nil
	}
	d := time.Duration(n) * unit
	if d < least || d > most {
		return 0, fmt.Errorf("valid value is between %v and %v, got %v", least, most, d)
	}
	return d, nil
}
