package encryption

// MetricPrefixes begin the names of upstream's metrics of encryption, which are in the registry of component-base.
var MetricPrefixes = []string{
	"apiserver_encryption_config_controller_", "apiserver_envelope_encryption_", "apiserver_storage_data_key_generation_",
	"apiserver_storage_envelope_transformation_", "apiserver_storage_transformation_",
}
