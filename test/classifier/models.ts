import { keptStarter } from "#gateway/classifier/kept-starter.ts";
import type { Model, RouteInput } from "#gateway/classifier/model.ts";
import type { Starter } from "#gateway/classifier/starter.ts";
import { trainModel } from "#gateway/classifier/train.ts";

let starter: Starter | null = null;
/** The starter, trained once for all tests of the process. */
export function sharedStarter(): Starter {
  starter ??= keptStarter();
  return starter;
}

export const route = (name: string, more: Partial<RouteInput> = {}): RouteInput => ({
  name,
  description: "",
  examples: [],
  keywords: [],
  ...more,
});

export const train = (...routes: RouteInput[]): Model =>
  trainModel({ routes, strictness: 0.05 }, sharedStarter());

/** Routes of a hotel: nothing like them is built in. */
export const HOTEL = [
  route("booking", {
    description: "Book, change or cancel a room",
    examples: [
      "I want a double room for Friday",
      "Can I move my reservation to June?",
      "Cancel my room for tonight",
      "Do you have a single room free tomorrow?",
      "Book two nights with breakfast",
      "Change the name on my reservation",
      "Is the suite free at Easter?",
      "Please extend my stay by one night",
    ],
  }),
  route("kitchen", {
    description: "Order food and drink to the room",
    examples: [
      "Bring a club sandwich to room 12",
      "What is on the menu tonight?",
      "Two coffees and a croissant please",
      "Is the soup vegan?",
      "I ordered a salad half an hour ago",
      "Can I have dinner in my room?",
      "A bottle of red wine, please",
      "Does the cake contain nuts?",
    ],
  }),
];

let hotelModel: Model | null = null;
/** The hotel's model, trained once for all tests of the process. */
export function hotel(): Model {
  hotelModel ??= train(...HOTEL);
  return hotelModel;
}
