package schedulerplugins

import "fmt"

// missing is what a method of Handle panics with that this scheduler does not have.
type missing string

func (m missing) Error() string {
	return fmt.Sprintf("it calls Handle.%s, which this scheduler does not have", string(m))
}

// guard turns the panic of a missing method into an error.
func guard(f func()) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case missing:
			err = r
		default:
			panic(r)
		}
	}()
	f()
	return nil
}
