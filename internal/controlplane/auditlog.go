package controlplane

import "fairlead.dev/server"

// openAudit opens the audit log; it returns nil for a control plane without one.
func (cp *ControlPlane) openAudit() (*server.Auditor, error) {
	if cp.base != nil || cp.options.Front != nil {
		return nil, nil
	}
	o := cp.options.Audit
	o.Webhook.Dial = dialer(cp.options.Network)
	return server.NewAuditor(o)
}
