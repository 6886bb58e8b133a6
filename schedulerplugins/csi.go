package schedulerplugins

import (
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/labels"
	fwk "k8s.io/kube-scheduler/framework"
)

// csi reads CSINodes from the shared informers.
type csi struct{ *registry }

func (c csi) CSINodes() fwk.CSINodeLister { return c }

func (c csi) List() ([]*storagev1.CSINode, error) {
	return c.informers.Storage().V1().CSINodes().Lister().List(labels.Everything())
}

func (c csi) Get(name string) (*storagev1.CSINode, error) {
	return c.informers.Storage().V1().CSINodes().Lister().Get(name)
}
