// A command in a container, by a WebSocket of Kubernetes' remote command protocol, version 5.
const PROTOCOL = 'v5.channel.k8s.io';
const [STDIN, STDOUT, STDERR, ERROR, RESIZE] = [0, 1, 2, 3, 4];

// exec runs a command with a terminal. It calls opened(), output(bytes) and ended(message); message is '' if the command
// has ended well.
export function exec({ namespace, name }, container, command, { opened, output, ended }) {
  const q = new URLSearchParams({ container, stdin: 'true', stdout: 'true', tty: 'true' });
  for (const word of command) q.append('command', word);
  const url = `wss://${location.host}/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}/exec?${q}`;
  const socket = new WebSocket(url, [PROTOCOL]);
  socket.binaryType = 'arraybuffer';
  let message; // from the error channel
  let open = false;
  const send = (channel, bytes) => {
    if (socket.readyState !== WebSocket.OPEN) return;
    const frame = new Uint8Array(bytes.length + 1);
    frame[0] = channel;
    frame.set(bytes, 1);
    socket.send(frame);
  };
  socket.onopen = () => { open = true; opened(); };
  socket.onmessage = (e) => {
    const frame = new Uint8Array(e.data);
    if (frame[0] === STDOUT || frame[0] === STDERR) output(frame.subarray(1));
    if (frame[0] === ERROR) {
      const status = JSON.parse(new TextDecoder().decode(frame.subarray(1)));
      message = status.status === 'Success' ? '' : status.message;
    }
  };
  socket.onclose = (e) => ended(message ?? (open ? e.reason || 'the connection was closed' : undefined));
  const encoder = new TextEncoder();
  return {
    type: (text) => send(STDIN, encoder.encode(text)),
    resize: (rows, columns) => send(RESIZE, encoder.encode(JSON.stringify({ Width: columns, Height: rows }))),
    close: () => socket.close(),
  };
}
