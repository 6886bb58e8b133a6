// Package certificates works on CertificateSigningRequests: it approves those by which
// kubelets ask for their client certificates, signs those that are approved and meant
// for one of Kubernetes' own signers, and deletes those that have had their time.
//
// Who may be approved is the API server's to say: a SubjectAccessReview must let the
// requestor create certificatesigningrequests/nodeclient, or /selfnodeclient if the
// certificate is the requestor's own. A request that an approved certificate may not be
// made of gets the condition Failed. Times, messages and rules are those of
// kube-controller-manager (csrapproving, csrsigning and csrcleaner).
package certificates
