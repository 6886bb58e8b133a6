// Package config reads a KubeSchedulerConfiguration into profiles.
package config
