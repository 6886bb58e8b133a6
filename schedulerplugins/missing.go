package schedulerplugins

import "fmt"

// missing is the panic of a method of Handle that this scheduler does not have: the method's name.
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
