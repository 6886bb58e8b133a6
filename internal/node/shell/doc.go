// Package shell interprets shell scripts for simulated containers: for kubectl exec and attach, and to
// predict the output and the end of a container's command.
//
//	code := shell.Run(ctx, container, streams, []string{"sh", "-c", "echo a | cat"})
//	prediction, ok := shell.Predict(pod, container, env)
//
// mvdan.cc/sh/v3/syntax parses a script and mvdan.cc/sh/v3/expand expands its words; this package
// runs the statements. Run takes its time on the clock of this machine, since a person waits.
// Predict runs the same interpreter in virtual time, in which sleep only advances a number, and
// returns the output of the command and its end.
//
// # Language
//
// Lists, pipes, subshells, if, while, until, for, case, redirections and here-documents, parameters
// with their POSIX operators, $(...), $((...)), set -e and -u, and the commands of the table commands.
// An unknown program fails with exit code 127. A script with any other construct (functions, background
// jobs, process substitution, arrays, trap, eval, source, ...) is refused with exit code 126 and a
// message, before its first statement runs where the construct can be told from the text.
//
// # Isolation
//
// A script cannot read, write or run anything of the machine on which this program runs. The reasons:
//
//   - The package imports neither os nor os/exec nor net, which a test checks. Files are a map
//     (Files), pipes and here-documents are buffers, and pipelines run one side after the other,
//     without goroutines.
//   - expand reaches the machine at two places: Config.ReadDir2, which lists Files here, and
//     the user database for ~name, which it asks only if the environment has no variable "HOME name"; the
//     environment of this package always has one.
//   - The interpreter of mvdan.cc/sh (package interp) is not used. It looks programs up with os.Stat (type,
//     command -v, source), resolves links (pwd -P), makes named pipes in the file system, an operating
//     system's pipe for each |, and limits neither the size of variables nor the recursion of functions.
//
// # Limits
//
// Exceeding one of these limits ends a script with 126: the length and the nesting of the text, the size of
// variables, files and pipes, the expansion of one statement and, in virtual time, the number of
// statements. On the clock of the machine a script runs no more than about 10,000 statements a second.
package shell
