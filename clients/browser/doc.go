// Package browser tests the page at /ui in headless Chromium, with keyboard and mouse. It is
// a module of its own, since users of Fairlead do not need the packages that drive a browser.
//
// The browser is the one that FAIRLEAD_BROWSER names, or a chromium or google-chrome of the
// machine. Without a browser the tests fail; FAIRLEAD_NO_BROWSER=1 skips them. The rules of
// accessibility are axe-core's, which npm ci installs into this directory. go test -shots=DIR . also takes screenshots of the views: dark, light, and on a narrow screen.
package browser
