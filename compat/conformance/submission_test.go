//go:build conformance

package conformance

import (
	"encoding/xml"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/onsi/ginkgo/v2/reporters"
)

// product is the PRODUCT.yaml of a submission to https://github.com/cncf/k8s-conformance. The submitter adds the version, the
// addresses of documentation and logo, and the contact.
const product = `vendor: Fairlead
name: Fairlead
version:
website_url: https://fairlead.dev
repo_url:
documentation_url:
product_logo_url:
type: distribution
description: The Kubernetes control plane in one binary, with real and simulated nodes.
contact_email_address:
k8s_version: v1.37
`

// writeSubmission joins the logs and the junit files of the shares in a folder into e2e.log and junit_01.xml, and adds
// PRODUCT.yaml.
func writeSubmission(dir string) error {
	if err := joinReports(dir); err != nil {
		return err
	}
	logs, err := filepath.Glob(filepath.Join(dir, "e2e-*.log"))
	if err != nil {
		return err
	}
	slices.Sort(logs)
	all, err := os.Create(filepath.Join(dir, "e2e.log"))
	if err != nil {
		return err
	}
	defer all.Close()
	for _, name := range logs {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		_, err = io.Copy(all, f)
		f.Close()
		if err != nil {
			return err
		}
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	if err := all.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "PRODUCT.yaml"), []byte(product), 0o644)
}

// joinReports joins the junit files of the shares, without the specs that a share skipped because another one ran them.
func joinReports(dir string) error {
	names, err := filepath.Glob(filepath.Join(dir, "junit-*.xml"))
	if err != nil {
		return err
	}
	var all reporters.JUnitTestSuite
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		var report reporters.JUnitTestSuites
		if err := xml.Unmarshal(text, &report); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, suite := range report.TestSuites {
			all.Name, all.Package = suite.Name, suite.Package
			all.Errors, all.Failures, all.Time = all.Errors+suite.Errors, all.Failures+suite.Failures, all.Time+suite.Time
			for _, test := range suite.TestCases {
				if test.Skipped == nil {
					all.TestCases = append(all.TestCases, test)
				}
			}
		}
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	all.Tests = len(all.TestCases)
	text, err := xml.MarshalIndent(reporters.JUnitTestSuites{
		Tests: all.Tests, Errors: all.Errors, Failures: all.Failures, Time: all.Time, TestSuites: []reporters.JUnitTestSuite{all},
	}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "junit_01.xml"), append([]byte(xml.Header), text...), 0o644)
}
