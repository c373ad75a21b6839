import { z } from 'zod';

/** Entries of one answer: an agent reads each of them. */
const PAGE = 10;

export const pageField = z.int().min(1).max(100).default(1);

/** The fields of an answer that shows a list page by page. */
export const pageFields = {
  total: z.number(),
  nextPage: z.number().optional(),
};

/** One page of a list, counted from 1. */
export function pageOf<T>(
  items: readonly T[],
  page: number,
): { readonly shown: T[]; readonly total: number; readonly nextPage?: number } {
  const shown = items.slice((page - 1) * PAGE, page * PAGE);
  const total = items.length;
  return { shown, total, ...(page * PAGE < total ? { nextPage: page + 1 } : {}) };
}
