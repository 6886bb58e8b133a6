// Package rootca publishes the certificate authority of the API server in every
// active namespace, as the ConfigMap kube-root-ca.crt that pods mount beside
// their token. A copy that was changed or deleted is restored.
//
// Of all ConfigMaps only those of that name are watched.
package rootca
