package admission

import (
	"errors"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"

	"fairlead.dev/internal/server/auth"
)

// token checks token requests, which a kubelet makes for its pods.
func (w nodeWrite) token() error {
	if w.r.Verb != Create || w.r.Subresource != "token" {
		return nil
	}
	spec := w.r.Object.(*authenticationv1.TokenRequest).Spec
	ref := spec.BoundObjectRef
	if ref == nil || ref.APIVersion != "v1" || ref.Kind != "Pod" || ref.Name == "" {
		return errors.New("node requested token not bound to a pod")
	}
	if ref.UID == "" {
		return errors.New("node requested token with a pod binding without a uid")
	}
	obj, err := w.get(core("pods"), w.r.Namespace, ref.Name)
	if err != nil {
		return err
	}
	pod := obj.(*corev1.Pod)
	switch {
	case pod.UID != ref.UID:
		return fmt.Errorf("the UID in the bound object reference (%s) does not match the UID in record. The object might have been deleted and then recreated", ref.UID)
	case pod.Spec.NodeName != w.name:
		return errors.New("node requested token bound to a pod scheduled on a different node")
	}
	return w.audience(pod, spec.Audiences)
}

// audience restricts a node to the audiences in the volumes of its pod, and to those allowed by the verb
// request-serviceaccounts-token-audience.
func (w nodeWrite) audience(pod *corev1.Pod, asked []string) error {
	if len(asked) > 1 {
		return errors.New("node may only request 0 or 1 audiences")
	}
	audience := ""
	if len(asked) == 1 {
		audience = asked[0]
	}
	found, err := w.mounts(pod, audience)
	if found {
		return nil
	}
	if err != nil {
		return fmt.Errorf("error validating audience %q: %w", audience, err)
	}
	allowed, err := w.may("request-serviceaccounts-token-audience", audience, w.r.Name)
	switch {
	case allowed:
		return nil
	case err != nil:
		return fmt.Errorf("error authorizing %s to request tokens for audience %q: %w", w.r.User.Name, audience, err)
	}
	return fmt.Errorf("%s is not authorized to request tokens for audience %q", w.r.User.Name, audience)
}

// may asks the authorizer for the right to do more than the volumes of the node's pods justify.
func (w nodeWrite) may(verb, resource, name string) (bool, error) {
	if w.Authorizer == nil {
		return false, nil
	}
	d, _, err := w.Authorizer.Authorize(w.ctx, auth.Attributes{
		User: w.r.User, Verb: verb, IsResource: true, Group: w.r.Resource.Group, Version: w.r.Version,
		Namespace: w.r.Namespace, Resource: resource, Name: name,
	})
	return d == auth.Allow, err
}

// mounts reports whether a volume of the pod uses tokens for the audience: a projected one, or one of a CSI driver
// that requests them.
func (w nodeWrite) mounts(pod *corev1.Pod, audience string) (bool, error) {
	var errs []error
	for _, v := range pod.Spec.Volumes {
		if v.Projected != nil {
			for _, s := range v.Projected.Sources {
				if s.ServiceAccountToken != nil && s.ServiceAccountToken.Audience == audience {
					return true, nil
				}
			}
		}
		driver, err := w.driver(pod, v)
		if err == nil && driver != "" {
			var has bool
			if has, err = w.driverWants(driver, audience); has {
				return true, nil
			}
		}
		errs = append(errs, err)
	}
	return false, utilerrors.NewAggregate(errs)
}

// driver returns the CSI driver of a volume, or "".
func (w nodeWrite) driver(pod *corev1.Pod, v corev1.Volume) (string, error) {
	claim := ""
	switch {
	case v.CSI != nil:
		return v.CSI.Driver, nil
	case v.PersistentVolumeClaim != nil:
		claim = v.PersistentVolumeClaim.ClaimName
	case v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil:
		claim = pod.Name + "-" + v.Name
	default:
		return inlineDriver(v.VolumeSource), nil
	}
	obj, err := w.get(core("persistentvolumeclaims"), pod.Namespace, claim)
	if err != nil {
		return "", err
	}
	obj, err = w.get(core("persistentvolumes"), "", obj.(*corev1.PersistentVolumeClaim).Spec.VolumeName)
	if err != nil {
		return "", err
	}
	return volumeDriver(obj.(*corev1.PersistentVolume).Spec.PersistentVolumeSource), nil
}

// Drivers that have replaced volume plugins of Kubernetes.
const (
	awsDriver       = "ebs.csi.aws.com"
	azureDiskDriver = "disk.csi.azure.com"
	azureFileDriver = "file.csi.azure.com"
	cinderDriver    = "cinder.csi.openstack.org"
	gceDriver       = "pd.csi.storage.gke.io"
	portworxDriver  = "pxd.portworx.com"
	vsphereDriver   = "csi.vsphere.vmware.com"
)

// inlineDriver returns the CSI driver that mounts a volume of a pod, or "".
func inlineDriver(v corev1.VolumeSource) string {
	switch {
	case v.AWSElasticBlockStore != nil:
		return awsDriver
	case v.AzureDisk != nil:
		return azureDiskDriver
	case v.AzureFile != nil:
		return azureFileDriver
	case v.Cinder != nil:
		return cinderDriver
	case v.GCEPersistentDisk != nil:
		return gceDriver
	case v.PortworxVolume != nil:
		return portworxDriver
	case v.VsphereVolume != nil:
		return vsphereDriver
	}
	return ""
}

// volumeDriver returns the CSI driver that mounts a persistent volume, or "".
func volumeDriver(v corev1.PersistentVolumeSource) string {
	switch {
	case v.CSI != nil:
		return v.CSI.Driver
	case v.AWSElasticBlockStore != nil:
		return awsDriver
	case v.AzureDisk != nil:
		return azureDiskDriver
	case v.AzureFile != nil:
		return azureFileDriver
	case v.Cinder != nil:
		return cinderDriver
	case v.GCEPersistentDisk != nil:
		return gceDriver
	case v.PortworxVolume != nil:
		return portworxDriver
	case v.VsphereVolume != nil:
		return vsphereDriver
	}
	return ""
}

func (w nodeWrite) driverWants(driver, audience string) (bool, error) {
	obj, err := w.get(schema.GroupResource{Group: storagev1.GroupName, Resource: "csidrivers"}, "", driver)
	if err != nil {
		return false, err
	}
	for _, t := range obj.(*storagev1.CSIDriver).Spec.TokenRequests {
		if t.Audience == audience {
			return true, nil
		}
	}
	return false, nil
}
