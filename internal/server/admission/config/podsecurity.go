package config

import (
	"fmt"

	"k8s.io/pod-security-admission/admission/api/load"
	"k8s.io/pod-security-admission/admission/api/validation"
)

func (c *Config) readPodSecurity(data []byte) (err error) {
	if c.PodSecurity, err = load.LoadFromData(data); err != nil {
		return err
	}
	if errs := validation.ValidatePodSecurityConfiguration(c.PodSecurity); len(errs) > 0 {
		return fmt.Errorf("PodSecurity invalid: %w", errs.ToAggregate())
	}
	return nil
}
