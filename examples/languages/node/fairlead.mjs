// A server that hosts control planes for tests. It ends with this process, however that ends: its standard input closes.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

export class Fairlead {
  // start returns when the server is ready. The program is that of $FAIRLEAD_BINARY, else the one in PATH.
  static async start() {
    const program = process.env.FAIRLEAD_BINARY ?? "fairlead";
    const child = spawn(program, ["up", "--in-memory", "--listen=127.0.0.1:0", "--stdin"], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const server = new Fairlead();
    server.child = child;
    server.ended = new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("exit", resolve);
    });
    server.lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    Object.assign(server, await server.response());
    return server;
  }

  // response returns the next line of the server.
  async response() {
    const { value, done } = await this.lines.next();
    if (done) {
      throw new Error(`fairlead has ended with code ${await this.ended}`);
    }
    const response = JSON.parse(value);
    if (response.error) {
      throw Object.assign(new Error(response.error), { reason: response.reason });
    }
    return response;
  }

  // command runs a command, such as "fork one --from=base", and returns its response. Commands run one after the other.
  async command(line) {
    const before = this.last ?? Promise.resolve();
    const result = before.then(() => {
      this.child.stdin.write(line + "\n");
      return this.response();
    });
    this.last = result.catch(() => {});
    return result;
  }

  // stop ends the server and all its control planes.
  async stop() {
    this.child.stdin.end();
    return this.ended;
  }
}
