import * as z from "zod";

const tokens = z.number().nullish().catch(undefined);

const usage = z
  .looseObject({
    input_tokens: tokens,
    output_tokens: tokens,
    cache_read_input_tokens: tokens,
    cache_creation_input_tokens: tokens,
  })
  .nullish()
  .catch(undefined);
export type WireUsage = z.infer<typeof usage>;

const block = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  thinking: z.string().optional(),
  signature: z.string().optional(),
  data: z.string().optional(),
  id: z.string().optional(),
  name: z.string().optional(),
  input: z.unknown().optional(),
});
export type WireBlock = z.infer<typeof block>;

const stop = z.string().nullish().catch(undefined);

/** A stream event of the messages API; fields of kinds that are not known are left alone. */
export const eventSchema = z.looseObject({
  type: z.string(),
  index: z.number().optional(),
  message: z
    .looseObject({ usage, content: z.array(block).optional().catch(undefined), stop_reason: stop })
    .optional(),
  content_block: block.optional(),
  delta: z
    .looseObject({
      type: z.string().optional(),
      text: z.string().optional(),
      thinking: z.string().optional(),
      signature: z.string().optional(),
      partial_json: z.string().optional(),
      stop_reason: stop,
    })
    .optional(),
  usage,
  /** Of a message that was sent whole. */
  content: z.array(block).optional().catch(undefined),
  stop_reason: stop,
});
export type WireEvent = z.infer<typeof eventSchema>;
