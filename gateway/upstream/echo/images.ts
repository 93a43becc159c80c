import { countOf, type ProviderObject } from "../../providers/provider-json.ts";
import { jsonAnswer, streamAnswer } from "./text.ts";

/** A grey pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNoAAAAggCB2kUIOwAAAABJRU5ErkJggg==";

const IMAGES_MAX = 10;
const PARTIAL_IMAGES_MAX = 3;

/** The built-in provider's images, of one pixel each; a stream has as many partial ones as requested. */
const imagesOf =
  (kind: "image_generation" | "image_edit") =>
  (body: ProviderObject): Response => {
    const n = Math.min(Math.max(countOf(body["n"]) ?? 1, 1), IMAGES_MAX);
    if (body["stream"] === true) return streamAnswer(eventsOf(kind, n, partialImages(body)));
    const image =
      body["response_format"] === "url" ? { url: `data:image/png;base64,${PNG}` } : { b64_json: PNG };
    return jsonAnswer({ created: 0, data: Array.from({ length: n }, () => image) });
  };

export const echoImages = imagesOf("image_generation");
export const echoImageEdits = imagesOf("image_edit");

const partialImages = (body: ProviderObject): number =>
  Math.min(countOf(body["partial_images"]) ?? 0, PARTIAL_IMAGES_MAX);

function eventsOf(kind: string, images: number, partial: number): string {
  const image = {
    created_at: 0,
    b64_json: PNG,
    size: "auto",
    quality: "auto",
    background: "auto",
    output_format: "png",
  };
  const one = [
    ...Array.from({ length: partial }, (_, index) => ({
      type: `${kind}.partial_image`,
      partial_image_index: index,
      ...image,
    })),
    { type: `${kind}.completed`, ...image },
  ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  return one.join("").repeat(images);
}
