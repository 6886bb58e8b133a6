// Package volumes has the plugins about volumes (VolumeRestrictions, NodeVolumeLimits,
// VolumeZone, VolumeBinding) and the Binder that writes the choices of VolumeBinding.
package volumes
