import { describe, expect, it } from 'vitest';
import { TenantQueue } from '../src/tenant-queue.js';

function taken(queue: TenantQueue<string>): string[] {
  const order: string[] = [];
  for (let next = queue.next(); next !== undefined; next = queue.next()) order.push(next);
  return order;
}

describe('a queue of tenants', () => {
  it('comes tenant after tenant, and in its order for each of them', () => {
    const queue = new TenantQueue<string>();
    for (const entry of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) queue.add(entry.slice(0, 1), entry);
    expect(taken(queue)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
    expect(queue.next()).toBeUndefined();
  });

  it('does not go to a tenant twice in a row that came back before another came', () => {
    const queue = new TenantQueue<string>();
    queue.add('a', 'a1');
    expect(queue.next()).toBe('a1');
    for (const entry of ['a2', 'a3', 'b1']) queue.add(entry.slice(0, 1), entry);
    expect(taken(queue)).toEqual(['b1', 'a2', 'a3']);
  });

  it('can be taken out before, and is then nobody’s', () => {
    const queue = new TenantQueue<string>();
    for (const entry of ['a1', 'a2', 'b1']) queue.add(entry.slice(0, 1), entry);
    expect(queue.remove('b', 'b1')).toBe(true);
    expect(queue.remove('b', 'b1')).toBe(false);
    expect(taken(queue)).toEqual(['a1', 'a2']);
  });
});
