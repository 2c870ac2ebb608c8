import { z } from "zod";
import { planSchema } from "./plan.js";

/** What the harness tells a host, a line of JSON each; the first is `open`. */
export const orderSchema = z.discriminatedUnion("order", [
  z.object({
    order: z.literal("open"),
    home: z.string(),
    workspace: z.string(),
    /** The scripted model's. */
    origin: z.string(),
    seed: z.number(),
    number: z.number(),
    round: planSchema.shape.rounds.element,
    /** Sessions there are, and how many there are to be. */
    ids: z.array(z.string()),
    sessions: z.number(),
    /** A last round in which the person says yes to all and every turn is brought to its end. */
    calm: z.boolean(),
  }),
  z.object({ order: z.literal("go") }),
  z.object({ order: z.literal("close") }),
]);
export type Order = z.infer<typeof orderSchema>;
export type OpenOrder = Extract<Order, { order: "open" }>;

/** What a host tells the harness. */
export const wordSchema = z.discriminatedUnion("word", [
  z.object({
    word: z.literal("opened"),
    sessions: z.array(
      z.object({
        id: z.string(),
        readOnly: z.string().optional(),
        damage: z.array(z.string()),
        state: z.string(),
      }),
    ),
  }),
  z.object({ word: z.literal("did"), what: z.string() }),
  z.object({ word: z.literal("broken"), invariant: z.string(), what: z.string() }),
  /** Every turn of a calm round is at its end. */
  z.object({ word: z.literal("over"), states: z.array(z.string()) }),
]);
export type Word = z.infer<typeof wordSchema>;
