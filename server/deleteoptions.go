package server

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// deleteOptions reads them from the body or, if there is none, the query.
func (c *call) deleteOptions() (*metav1.DeleteOptions, error) {
	body, err := c.body()
	if err != nil {
		return nil, err
	}
	opts, err := c.s.offer.DecodeDeleteOptions(c.req, c.query, body)
	if err != nil {
		return nil, err
	}
	c.dryRun = len(opts.DryRun) > 0
	//lint:ignore SA1019 clients still send it
	if w := c.ep.Strategy.OrphanWarning; w != "" && opts.PropagationPolicy == nil && opts.OrphanDependents == nil {
		c.warn(w)
	}
	return opts, nil
}
