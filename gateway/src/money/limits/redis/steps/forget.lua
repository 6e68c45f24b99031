-- What was spent on a meter is asked from the database again. keys: the meter's hash.
redis.call('HDEL', keys[1], 'spent', 'since')
return {'forgotten'}
