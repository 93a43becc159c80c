import { camelName } from "../../google-format.ts";
import { type MemberReader, type MemberReaders, readMembers } from "../members.ts";
import type { BodyPlace, LocatedBody } from "../place.ts";
import { objectAt } from "../values.ts";

/** Like `readMembers`, for Google's objects, whose names may be in snake case. */
export function readProto(
  { object, at }: LocatedBody,
  readers: MemberReaders,
  otherwise?: MemberReader,
): void {
  const camel: Record<string, unknown> = {};
  for (const name in object) {
    const spelled = camelName(name);
    camel[Object.hasOwn(readers, spelled) ? spelled : name] = object[name];
  }
  readMembers({ object: camel, at }, readers, otherwise);
}

/** The objects of a list; Google's servers take a single object for a list of one. */
export const listedObjects = (value: unknown, at: BodyPlace): LocatedBody[] =>
  Array.isArray(value)
    ? value.map((one, index) => ({ object: objectAt(one, at.item(index)), at: at.item(index) }))
    : [{ object: objectAt(value, at), at }];

/** `readProto` of an object at its place. @throws GatewayError invalid_request for any other value. */
export const readProtoObject = (value: unknown, at: BodyPlace, readers: MemberReaders): void =>
  readProto({ object: objectAt(value, at), at }, readers);

/** The same, as the reader of a member. */
export const objectReader =
  (readers: MemberReaders): MemberReader =>
  (value, at) =>
    readProtoObject(value, at, readers);
