// The commands of kubectl and fairlead that do the same as the page.

const BUILTIN = new Set(['', 'apps', 'batch', 'policy', 'autoscaling']);

const quote = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`);

// kubectl is a command line about an object.
export const kubectl = ({ namespace }, ...words) => commandLine('kubectl', ...(namespace ? ['-n', namespace] : []), ...words);

export const fairlead = (...words) => commandLine('fairlead', ...words);

// commandLine is a command line of words, without the empty ones.
const commandLine = (...words) => words.filter(Boolean).map((w) => quote(String(w))).join(' ');

// target is the object as an argument: deployment/web.
export const target = (r, name) => `${BUILTIN.has(r.group) ? r.kind.toLowerCase() : r.key}/${name}`;
