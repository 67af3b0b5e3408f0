// Judges messages by the official schema, twice: by the JSON schema that the
// SDK publishes, with ajv, and by the parser that the SDK itself uses.
import { readFileSync } from "node:fs";
import Ajv from "ajv/dist/2020.js";

const sdk = new URL("../node_modules/@agentclientprotocol/sdk/", import.meta.url);

const formats = { int32: true, int64: true, uint16: true, uint32: true, uint64: true, double: true, uri: isURI };

function isURI(text) {
  return URL.canParse(text);
}

// Edition is the stable or the unstable schema of protocol version 1.
class Edition {
  static async open(schemaFile, parserFile) {
    const schema = JSON.parse(readFileSync(new URL(schemaFile, sdk)));
    const parsers = await import(new URL(parserFile, sdk));
    return new Edition(schema, parsers);
  }

  constructor(schema, parsers) {
    this.definitions = schema.$defs;
    this.parsers = parsers;
    this.ajv = new Ajv({ strict: false, validateSchema: false, allErrors: true, formats });
    this.ajv.addSchema(schema, "acp");
  }

  // typeOf names the type of a message of a method: the kind is Request,
  // Response or Notification.
  typeOf(method, kind) {
    for (const [name, definition] of Object.entries(this.definitions)) {
      if (definition["x-method"] === method && name.endsWith(kind)) return name;
    }
    return undefined;
  }

  // faults lists what is wrong with a value of a type.
  faults(type, value) {
    const found = [];
    const check = this.ajv.getSchema(`acp#/$defs/${type}`);
    if (!check(value)) {
      found.push(...check.errors.map((e) => `schema: ${type}${e.instancePath} ${e.message}`));
    }
    const parsed = this.parsers[`z${type}`].safeParse(value);
    if (!parsed.success) {
      found.push(...parsed.error.issues.map((i) => `parser: ${type}/${i.path.join("/")} ${i.message}`));
    }
    return found;
  }
}

// Judge keeps both editions; the unstable one is read when it is needed.
export class Judge {
  static async open() {
    const judge = new Judge();
    judge.stable = await Edition.open("schema/v1/schema.json", "dist/v1/schema/zod.gen.js");
    return judge;
  }

  // faults lists what is wrong with the params or the result of a method. What
  // only the unstable schema knows must fit that one.
  async faults(method, kind, value) {
    let edition = this.stable;
    if (!edition.typeOf(method, kind)) {
      this.unstable ??= Edition.open("schema/v1/schema.unstable.json", "dist/v1/unstable/schema/zod.gen.js");
      edition = await this.unstable;
    }
    const type = edition.typeOf(method, kind);
    if (type) return [...new Set(edition.faults(type, value))];
    return method.startsWith("_") ? [] : [`no such ${kind.toLowerCase()}: ${method}`];
  }
}
